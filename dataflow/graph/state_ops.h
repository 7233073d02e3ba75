// The ops of variables, and of the epoch that guards them. Attr variable: its name in the shard of the
// node's task. See "State ops" in dataflow/ops/README.md.
#pragma once

#include <span>

#include "dataflow/graph/op.h"

namespace actorflow {

// () -> value; attrs dtype, shape. A part of a partitioned variable also has slice_of, the name of the
// whole; slice_shape, its shape; and slice_offset, where the part begins in it. Checkpoints hold the
// whole.
const OpDef& read_variable_op();
const OpDef& assign_variable_op();      // (value) -> ()
const OpDef& assign_add_variable_op();  // (delta) -> value after
const OpDef& is_initialized_op();       // () -> bool scalar
// (indices int32 or int64) -> those rows of the value; attrs dtype and shape of the variable. Programs
// write gather() of a variable, which gather_variables.h replaces by this op.
const OpDef& gather_variable_op();

// The fencing epoch of the node's task (schema/message.h). Raising it drops waiting gradients, barriers
// and tokens; an epoch that is not above the present one fails as aborted.
const OpDef& raise_epoch_op();  // (epoch int64) -> ()
const OpDef& read_epoch_op();   // () -> epoch int64

std::span<const OpDef* const> state_ops();

}  // namespace actorflow
