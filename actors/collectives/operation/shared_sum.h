// A sum that the ranks of a board make together.
#pragma once

#include <span>

#include "actors/collectives/operation/arithmetic.h"
#include "actors/collectives/operation/board.h"

namespace actorflow {

// As reduce_in_order(), and with its bits. Each rank begins with the slice of its number, takes those
// that others show, and goes on with one that nobody shows: ranks that have no core at the moment, or
// come late, are not waited for, and find the sums when they come. REQUIRES: board.shares_sums(); a part
// for each rank, by rank; `out` as large as a contribution.
void reduce_together(Board& board, const CollectiveCall& call, std::span<const Bytes> parts,
                     SumStage stage, std::span<std::byte> out, Team* team);

}  // namespace actorflow
