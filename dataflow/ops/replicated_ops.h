// Ops of variables that every replica has on its own task (AllReduce in dataflow/train/strategy.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// The updates have the attributes of ApplyGradient, but neither serial nor count: a step that fails has
// changed nothing, and a step that succeeds has changed all.

// (gradient, a learning rate or nothing) -> (): applies a gradient, the mean of all replicas'.
const OpDef& apply_reduced_gradient_op();
// (values, indices, rows int64[P], values, indices, rows, .., a learning rate or nothing) -> (): applies
// the mean of row-sparse gradients, each part of which all ranks have gathered; `rows` says how many of
// its rows are each rank's. A row is divided by the number of the ranks that have it.
const OpDef& apply_gathered_gradient_op();

// Attr variables: their names in the shard, string[n].
// () -> uint8[?]: the values of the variables, and what their optimizers keep beside them; of those that
// attr values_only names (none: an empty tensor) the values alone.
const OpDef& read_state_op();
// (uint8[?]) -> (): gives variables what ReadState has read of as many, all at once or, if it fails,
// none.
const OpDef& assign_state_op();

// Of replicas that step alone, and agree after some steps (AllReduce::local_steps). Attr variable.
// () -> the value of the variable that attr since names less that of `variable`, both of attrs dtype and
// shape.
const OpDef& read_change_op();
// () -> (): gives the variable the value of the one that attr from names. Its optimizer's slots stay,
// or, with attr forget_slots, begin anew.
const OpDef& take_value_op();

std::span<const OpDef* const> replicated_ops();

// The variables of a replica's graph that take what was agreed on, and those that have it.
struct AgreedVariable {
  std::string variable, agreed;
};
std::vector<AgreedVariable> agreed_variables(const GraphDef& graph);

}  // namespace actorflow
