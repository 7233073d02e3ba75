// What callbacks keep in checkpoints: numbers and weights, as tensors with names.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "actors/models/fit/callback.h"
#include "dataflow/values/error.h"

namespace actorflow {

// Throws failed_precondition, naming the callback, if there is no such number.
inline std::int64_t kept_number(const Callback& callback, const CallbackState& state,
                                const std::string& name) {
  const auto found = state.find(name);
  if (found != state.end() && found->second.dtype() == DType::int64 && found->second.elements() == 1)
    return found->second.scalar<std::int64_t>();
  throw Error(
      Code::failed_precondition,
      fmt::format("{}: expected '{}', int64[], in its state, got {}; go on from another "
                  "checkpoint, or without this callback",
                  callback.name(), name, found == state.end() ? "nothing" : found->second.describe()));
}

inline void keep_all(const std::map<std::string, Tensor>& tensors, const std::string& prefix,
                     CallbackState& state) {
  for (const auto& [name, tensor] : tensors) state[prefix + name] = tensor;
}

inline std::map<std::string, Tensor> kept_all(const CallbackState& state, const std::string& prefix) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : state)
    if (name.starts_with(prefix)) tensors[name.substr(prefix.size())] = tensor;
  return tensors;
}

}  // namespace actorflow
