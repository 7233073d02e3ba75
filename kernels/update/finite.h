// NaN and infinity in tensors.
#pragma once

#include <cstdint>

#include "dataflow/values/tensor.h"
#include "kernels/devices/device.h"
#include "kernels/devices/team.h"

namespace actorflow {

// How many elements of a tensor of `device` are NaN or infinite; 0 for types that are not floating. A
// team shares the work on a large tensor of a CPU. For a GPU the caller waits.
std::int64_t count_not_finite(const Tensor& tensor, Device& device, Team* team = nullptr);

}  // namespace actorflow
