// The state of an eager variable.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "kernels/eager/eager_variable.h"

namespace actorflow {

struct EagerVariable::State {
  State(std::string name_, Tensor initial)
      : name(std::move(name_)), type{initial.dtype(), initial.shape()}, value(std::move(initial)) {}

  const std::string name;
  const TensorType type;
  std::mutex mutex;  // guards what follows
  Tensor value;
  std::uint64_t version = 0;  // counts the changes of the value
};

}  // namespace actorflow
