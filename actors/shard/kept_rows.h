// Copies of rows of a table before an update, which restore its earlier value.
#pragma once

#include <span>

#include "kernels/update/sparse_update.h"

namespace actorflow {

// Copies the rows of `table` that these gradients have, each once, in ascending order. REQUIRES: they
// fit the table, which is on the host.
GradientRows copy_rows(const Tensor& table, std::span<const Gradient> gradients);

// A copy of `table` with the earlier `rows`.
Tensor with_rows(const Tensor& table, const GradientRows& rows);

}  // namespace actorflow
