// Tensors of bool whose bytes come from outside.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataflow/values/check.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

// Whether each element of a tensor of bool is 0 or 1: reading another one as a bool is undefined
// behaviour. REQUIRES: on_host().
inline bool has_only_booleans(const Tensor& tensor) {
  ACTORFLOW_CHECK(tensor.on_host(), tensor.describe());
  const auto* bytes = static_cast<const std::uint8_t*>(tensor.data());
  return std::all_of(bytes, bytes + tensor.elements(), [](auto byte) { return byte <= 1; });
}

}  // namespace actorflow
