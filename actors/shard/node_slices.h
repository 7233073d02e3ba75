// The slices of variables that a node of a sharded optimizer works on. For sliced.cpp and
// sliced_slots.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "actors/shard/state.h"
#include "dataflow/ops/sliced_ops.h"

namespace actorflow {

// The rank of the replica that runs the node.
inline int rank_of(const Node& node) { return static_cast<int>(attr<std::int64_t>(node, "rank")); }

// A rank's slice of the i-th variable.
inline SlotSlice slice_of(const SlicedVariables& sliced, std::size_t i, int rank) {
  return {sliced.begin(i, rank), sliced.count(i, rank)};
}

// Throws invalid_argument if the slices were cut for a variable of another size, in another graph.
void expect_variable(const Node& node, const ShardVariable& variable, const std::string& name,
                     std::int64_t elements);

}  // namespace actorflow
