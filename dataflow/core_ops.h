// The ops that graphs themselves are made of: what the builder and the graph transformations add.
// Their kernels, where they have one, are in kernels/; the rest is done by actors.
#pragma once

#include <span>

#include "dataflow/op.h"

namespace actorflow {

const OpDef& const_op();        // () -> value; attr value: Tensor
const OpDef& placeholder_op();  // () -> fed tensor; attrs dtype, shape
const OpDef& identity_op();     // (x) -> x
const OpDef& no_op();           // () -> ()
const OpDef& add_n_op();        // (x, x, ...) -> sum, all of one type

// What a step passes in and out of a partition; attr index. Arg also has dtype and shape.
const OpDef& arg_op();     // () -> argument
const OpDef& retval_op();  // (x) -> ()

// The two ends of a transfer between partitions. Attrs: channel (the same number at both ends, unique
// in the partitioned graph) and peer (the task at the other end). Recv also has dtype and shape.
const OpDef& send_op();  // (x) -> ()
const OpDef& recv_op();  // () -> x

// Variables; attr variable: its name in the shard. See state_ops in dataflow/README.md.
const OpDef& read_variable_op();        // () -> value; attrs dtype, shape
const OpDef& assign_variable_op();      // (value) -> ()
const OpDef& assign_add_variable_op();  // (delta) -> value after
const OpDef& is_initialized_op();       // () -> bool scalar

// (gradient) -> (): applies it at once. Attrs: variable, optimizer ("sgd", ...), hyperparameters
// (list of float64 in the order that dataflow/optimizer.h documents).
const OpDef& apply_gradient_op();
// (gradient, local_step int64) -> accepted bool: hands the gradient to the variable's accumulator,
// which drops it if local_step is behind, and applies the mean of `replicas_to_aggregate` of them,
// summed in the order of the replicas. Attrs as apply_gradient, and replica, replicas_to_aggregate,
// total_num_replicas, coordinator (the task that holds the barrier) and global_step (the variable that
// the barrier counts).
const OpDef& accumulate_gradient_op();
// (local_step int64) -> global step after: counts an asynchronous step that began at `local_step` and
// records its staleness. Attr variable: the global step's name.
const OpDef& count_step_op();
// () -> float64[3]: steps counted, mean and maximum of their staleness. Attr variable as CountStep.
const OpDef& staleness_op();
// () -> token int64: waits at the barrier for the next global step. Attrs: variable (the global
// step's name), accumulators (how many variables take part), replica, replicas_to_aggregate,
// total_num_replicas, initial_tokens.
const OpDef& take_token_op();

std::span<const OpDef* const> core_ops();

}  // namespace actorflow
