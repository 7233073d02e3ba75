// Ops of variables whose optimizer slots are divided among the replicas (AllReduce::sharded_optimizer in
// dataflow/train/strategy.h). Every replica has the values; of the slots a rank has those of its slice,
// which it updates for all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// The slices of some variables. Elements are counted in row-major order.
struct SlicedVariables {
  std::vector<std::string> variables;  // their names in the shard
  int ranks = 1;
  // For each variable ranks + 1 numbers, which begin with 0 and end with its elements: rank r has the
  // elements from the r-th of them to the next.
  std::vector<std::int64_t> borders;

  std::int64_t begin(std::size_t variable, int rank) const {
    return borders[variable * static_cast<std::size_t>(ranks + 1) + static_cast<std::size_t>(rank)];
  }
  std::int64_t count(std::size_t variable, int rank) const {
    return begin(variable, rank + 1) - begin(variable, rank);
  }
  std::int64_t elements(std::size_t variable) const { return begin(variable, ranks); }
  // Of all variables.
  std::int64_t elements_of_rank(int rank) const;
};

// The attributes variables string[n] and borders int64[n, ranks + 1], which all of these ops have.
Attrs slice_attrs(const SlicedVariables& sliced);
SlicedVariables sliced_variables(const Node& node);

// A bucket's tensors hold the slices of its variables one after the other.

// (gradient, ..) -> [k]: the rank's slices of n tensors that have the variables' elements. Attr rank.
const OpDef& cut_slices_op();
// (gradients [k]) -> int64[n]: how many elements of the rank's slice of each variable are not finite.
// Attr rank.
const OpDef& count_not_finite_slices_op();
// (gradients [k], their elements that are not finite int64[n], global step int64[, learning_rate]) ->
// values [k]: updates the rank's slices and their slots by the mean gradients of all replicas. The
// values of the variables stay as they are. Fails as aborted, and changes nothing, if the slots have had
// the update of that step already. Attrs: rank; ranks (the replicas' tasks, with blanks between them);
// optimizer, hyperparameters and skip_not_finite as ApplyGradient.
const OpDef& update_slices_op();
// (values) -> (): gives the variables new values: the slices of all ranks, one rank's after the other's.
const OpDef& assign_slices_op();

// (global step int64) -> uint8[?]: the rank's slots as they are after that step. Fails as aborted if
// they are of another one. Attr rank.
const OpDef& read_slot_slices_op();
// () -> uint8[?], int64[ranks]: the slots for each rank, one rank's after the other's, and how many
// bytes they are. Fails as failed_precondition if the task has only a slice of them.
const OpDef& divide_slots_op();
// (uint8[?], global step int64) -> (): gives the variables what a rank gets of DivideSlots; their slots
// are as after that step. Attr rank.
const OpDef& assign_slot_slices_op();
// () -> bool: whether the task has all slots of the variables, which may be none, and not only a slice.
// Attr variables.
const OpDef& has_whole_slots_op();

std::span<const OpDef* const> sliced_ops();

// The sharded optimizer of a replica's graph: all variables that UpdateSlices nodes update, the tasks in
// the order of ranks, and the replica's own task. Without variables there is no sharded optimizer.
struct ShardedOptimizer {
  SlicedVariables sliced;
  std::vector<std::string> tasks;
  int rank = 0;

  explicit operator bool() const { return !tasks.empty(); }
};
ShardedOptimizer sharded_optimizer(const GraphDef& graph);

}  // namespace actorflow
