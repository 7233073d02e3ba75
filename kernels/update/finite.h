// Elements of tensors that must not be there: NaN, infinity and indices of no row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dataflow/values/tensor.h"
#include "kernels/devices/device.h"
#include "kernels/devices/team.h"

namespace actorflow {

// The number of elements of a tensor on `device` that are NaN or infinite; 0 for types that are not
// floating. A team shares the work on a large tensor of a CPU; for a GPU the call waits.
std::int64_t count_not_finite(const Tensor& tensor, Device& device, Team* team = nullptr);

// A tensor to be looked through.
struct Suspect {
  Tensor tensor;
  std::optional<std::int64_t> rows;  // set: these are indices, int64, of so many rows
};

// The number of bad elements of each tensor: those that are not finite, or indices that are not from 0
// to rows - 1. For a GPU there is one wait for all.
std::vector<std::int64_t> count_bad(std::span<const Suspect> suspects, Device& device,
                                    Team* team = nullptr);

}  // namespace actorflow
