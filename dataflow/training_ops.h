// The ops of training: optimizer updates, and what replicas wait for. dataflow/replicate.h adds them.
#pragma once

#include <span>

#include "dataflow/op.h"

namespace actorflow {

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

std::span<const OpDef* const> training_ops();

}  // namespace actorflow
