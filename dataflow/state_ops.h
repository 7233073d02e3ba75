// The ops of variables. Attr variable: its name in the shard of the node's task. See "State ops" in
// dataflow/README.md.
#pragma once

#include <span>

#include "dataflow/op.h"

namespace actorflow {

const OpDef& read_variable_op();        // () -> value; attrs dtype, shape
const OpDef& assign_variable_op();      // (value) -> ()
const OpDef& assign_add_variable_op();  // (delta) -> value after
const OpDef& is_initialized_op();       // () -> bool scalar

std::span<const OpDef* const> state_ops();

}  // namespace actorflow
