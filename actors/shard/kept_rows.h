// The rows of a table that an update is about to change, so that it can be seen as it was before.
#pragma once

#include <span>

#include "kernels/update/sparse_update.h"

namespace actorflow {

// Copies of the rows of `table` that these gradients have, each once, in ascending order. REQUIRES: they fit the
// table, which is on the host.
GradientRows copy_rows(const Tensor& table, std::span<const Gradient> gradients);

// A copy of `table` in which `rows` are as they were.
Tensor with_rows(const Tensor& table, const GradientRows& rows);

}  // namespace actorflow
