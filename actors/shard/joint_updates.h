// Gradients on a GPU that are applied to their variables together.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "actors/shard/state.h"

namespace actorflow {

// A call that was held until its gradient was looked through.
struct HeldCall {
  StateCall call;
  const StateOp* op;  // with run_counted
};

// Runs calls whose gradients are on one GPU, those of a variable in their order, and answers the nodes.
// bad[i] is of gradient i. Returns for each call why it failed, or null where it has not.
std::vector<std::exception_ptr> run_together(ShardState& shard, std::span<HeldCall> calls,
                                             std::span<const BadElements> bad);

}  // namespace actorflow
