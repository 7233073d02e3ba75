// Gradients of a tape, reduced over ranks in one line.
//
//   optimizer.apply(all_reduce_gradients(world, tape.gradients(loss, variables)), variables);
#pragma once

#include <vector>

#include "actors/collectives/communicator.h"
#include "kernels/eager/eager_variable.h"
#include "kernels/update/optimizer_rule.h"

namespace actorflow {

// The mean, or with ReduceOp::sum the sum, of all ranks' gradients, with the same bits on every rank:
// dense ones as one operation for each dtype, the rows of row-sparse ones gathered from all ranks. Every
// rank passes gradients of the same variables in the same order; empty ones stay empty. The results are
// on the host. Throws invalid_argument for another reduction and, on every rank, for a gradient that is
// dense, row-sparse or empty on one rank and not on another; and what the communicator throws.
std::vector<Gradient> all_reduce_gradients(const Communicator& world,
                                           const std::vector<Gradient>& gradients,
                                           const ReduceOptions& options = {
                                               .name = "gradients", .reduction = ReduceOp::average});

// The value of the root for every rank, so that all begin with the same weights.
void broadcast_variables(const Communicator& world, const std::vector<EagerVariable>& variables,
                         int root = 0);

}  // namespace actorflow
