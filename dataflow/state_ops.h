// The ops of variables, and of the epoch that guards them. Attr variable: its name in the shard of the node's task. See "State ops" in
// dataflow/README.md.
#pragma once

#include <span>

#include "dataflow/op.h"

namespace actorflow {

const OpDef& read_variable_op();        // () -> value; attrs dtype, shape
const OpDef& assign_variable_op();      // (value) -> ()
const OpDef& assign_add_variable_op();  // (delta) -> value after
const OpDef& is_initialized_op();       // () -> bool scalar

// The fencing epoch of the node's task (schema/message.h). Raising it forgets gradients that wait for
// others of their step, barriers and tokens; an epoch that is not above the present one: aborted.
const OpDef& raise_epoch_op();  // (epoch int64) -> ()
const OpDef& read_epoch_op();   // () -> epoch int64

std::span<const OpDef* const> state_ops();

}  // namespace actorflow
