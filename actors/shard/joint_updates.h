// Gradients on a GPU that are applied to their variables together.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "actors/shard/state.h"

namespace actorflow {

// Applies the gradients of ApplyGradient nodes whose variables live on one GPU, in their order, and
// answers the nodes. Of gradient i bad[i] elements are not finite. Returns for each call why it failed,
// or null where it is answered.
std::vector<std::exception_ptr> apply_together(ShardState& shard, std::span<StateCall> calls,
                                               std::span<const std::int64_t> bad);

}  // namespace actorflow
