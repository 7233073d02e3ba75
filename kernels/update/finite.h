// NaN and infinity in tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataflow/values/tensor.h"
#include "kernels/devices/device.h"
#include "kernels/devices/team.h"

namespace actorflow {

// The number of elements of a tensor on `device` that are NaN or infinite; 0 for types that are not
// floating. A team shares the work on a large tensor of a CPU; for a GPU the call waits.
std::int64_t count_not_finite(const Tensor& tensor, Device& device, Team* team = nullptr);
// The same of each tensor. For a GPU there is one wait for all.
std::vector<std::int64_t> count_not_finite(std::span<const Tensor> tensors, Device& device,
                                           Team* team = nullptr);

}  // namespace actorflow
