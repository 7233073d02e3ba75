// Reducing the contributions of ranks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dataflow/collectives/agreement.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

class Team;

// Elements without a tensor of their own.
using Bytes = std::span<const std::byte>;

// out[i] = ((parts[0][i] + parts[1][i]) + parts[2][i]) + ..., or what call.reduction is instead of the
// sum; integers wrap around, and a NaN stays one. The bits do not depend on the team. `out` may be one
// of the parts. REQUIRES: all of one size, of a dtype that check_call() accepts.
void reduce_in_order(const CollectiveCall& call, const std::vector<Bytes>& parts,
                     std::span<std::byte> out, Team* team);

// What follows the reduction over all ranks: an average's division, then the factor. In place.
void finish_reduction(const CollectiveCall& call, int ranks, std::span<std::byte> values, Team* team);

// Multiplies by a factor; a tensor of its own unless the factor is 1.
Tensor prescaled(const CollectiveCall& call, Tensor values, Allocator& allocator, Team* team);

}  // namespace actorflow
