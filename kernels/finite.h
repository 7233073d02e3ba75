// NaN and infinity in tensors.
#pragma once

#include <cstdint>

#include "dataflow/tensor.h"
#include "kernels/team.h"

namespace actorflow {

// How many elements are NaN or infinite; 0 for types that are not floating. A team shares the work on a
// large tensor. REQUIRES: on the host.
std::int64_t count_not_finite(const Tensor& tensor, Team* team = nullptr);

}  // namespace actorflow
