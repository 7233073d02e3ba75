// Row-sparse gradients as a dense one, for optimizers whose formula is of the whole variable.
#pragma once

#include <span>

#include "kernels/update/optimizer_rule.h"

namespace actorflow::detail {

// The mean of row-sparse gradients for a variable of the type of `like`, as a tensor on the device; rows
// that no gradient has are 0. A row that has several parts in one gradient is their sum. REQUIRES: the
// gradients are on the device, their indices from 0 to the number of rows - 1.
Tensor dense_mean(const Tensor& like, std::span<const SparseGradient> gradients, Device& device);

}  // namespace actorflow::detail
