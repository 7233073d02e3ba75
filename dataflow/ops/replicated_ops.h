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

// (slots ..) -> uint8[?]: the values of variables and their optimizer slots. Attrs, both string[n]:
// variables, their names in the shard; values_only, those of them whose slots are left out (may be
// empty). The inputs are what ReadSlotSlices has read of the same variables on the other ranks, where
// this task has only a slice of the slots; fails as aborted if they lack elements.
const OpDef& read_state_op();
// (uint8[?]) -> (): sets variables and slots to what ReadState has read of as many variables: all of
// them or, if it fails, none. Attr variables as ReadState.
const OpDef& assign_state_op();

// For replicas that step alone and agree after some steps (AllReduce::local_steps). Attrs: variable,
// since (names of two variables), dtype, shape (of both). () -> the value of `since` minus that of
// `variable`.
const OpDef& read_change_op();
// () -> (): sets a variable to the value of another one. Attrs: variable; from, the other's name;
// forget_slots, whether the slots of `variable` begin anew instead of staying as they are.
const OpDef& take_value_op();

std::span<const OpDef* const> replicated_ops();

// A variable of a replica's graph, and the variable with the value for it that the replicas agreed on
// last.
struct AgreedVariable {
  std::string variable, agreed;
};
std::vector<AgreedVariable> agreed_variables(const GraphDef& graph);

}  // namespace actorflow
