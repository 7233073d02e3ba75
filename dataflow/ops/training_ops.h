// The ops of training: optimizer updates and barriers of replicas. dataflow/train/replicate.h adds them
// to graphs.
#pragma once

#include <cstdint>
#include <span>

#include "dataflow/graph/op.h"

namespace actorflow {

// The number of counts that GradientCounts returns for each replica.
constexpr std::int64_t gradient_count_fields = 4;
// The number of buckets in the histogram that Staleness returns.
constexpr std::int64_t staleness_buckets = 32;

// (gradient, serial int64[, learning_rate]) -> (): applies the gradient at once, unless the replica's
// gradient of this serial or a later one has been applied already; serial = -1 always counts. Attrs:
// variable, optimizer ("sgd", ...), hyperparameters (list of float64 in the order that
// dataflow/ops/optimizer.h documents), replica, train_op (each train_op has serials of its own),
// skip_not_finite (whether a gradient that is not finite is left out; otherwise the op fails as
// not_finite). The input learning_rate, a floating scalar, replaces that of the hyperparameters.
const OpDef& apply_gradient_op();
// (gradient, local_step int64, serial int64[, learning_rate]) -> accepted bool: hands the gradient to
// the variable's accumulator, which drops it if local_step is behind, and applies the mean of
// `replicas_to_aggregate` gradients, whose bits do not depend on the order in which they come. A
// replica's gradient of one step and serial counts once. Attrs as apply_gradient, and replica,
// replicas_to_aggregate, total_num_replicas, coordinator (the task that holds the barrier) and
// global_step (the variable that the barrier counts).
const OpDef& accumulate_gradient_op();
// (serial int64, values, indices, values, indices, ...[, learning_rate]) -> (): as ApplyGradient, for
// the sum of row-sparse gradients: values [n, ...] of the variable's rows `indices` [n], int64.
const OpDef& apply_sparse_gradient_op();
// (local_step int64, serial int64, values, indices, ...[, learning_rate]) -> accepted bool: as
// AccumulateGradient; each row of the mean is divided by the number of gradients that have the row.
const OpDef& accumulate_sparse_gradient_op();
// () -> int64[total_num_replicas, 4]: for each replica, how many gradients were counted, dropped as
// stale, dropped because they had been counted before, and counted but not finite. For the global step
// of asynchronous training: the same of each replica's steps. Attrs: variable, total_num_replicas.
const OpDef& gradient_counts_op();
// (local_step int64) -> the variable's value at that global step: the present value, or that before the
// last mean of gradients, which a replica needs that rejoins in the middle of a step. Attrs as
// ReadVariable.
const OpDef& read_at_step_op();
// (local_step int64) -> bool: whether the replica's gradient of that step has been handed in, so that
// the variable has moved on or may at any time. Attrs: variable, replica.
const OpDef& has_gradient_op();
// (local_step int64, serial int64) -> global step after: counts an asynchronous step that began at
// `local_step`, once, and records its staleness. Attrs: variable (the global step's name), and replica
// and train_op as ApplyGradient.
const OpDef& count_step_op();
// () -> int64: the serial of the replica's first step that has not been counted. Attrs as CountStep.
const OpDef& next_serial_op();
// () -> float64[3]: steps counted, mean and maximum of their staleness; int64[32]: how many had a
// staleness of 0, 1, ..., 30, and of more. Attr variable as CountStep.
const OpDef& staleness_op();
// (local_step int64, serial int64) -> (local_step, serial): waits at the barrier until the replica may
// make its next contribution, and names it. The inputs name its last contribution, the serial-th of that
// step; local_step = -1 if there is none yet. Asked again, the answer is the same. Attrs: variable (the
// global step's name), accumulators (how many variables take part), replica, replicas_to_aggregate,
// total_num_replicas, initial_tokens; and optionally task, the replica's, by which messages about
// waiting name it.
const OpDef& take_token_op();

// Bounded staleness; attrs of all four: variable (the global step's name), replica, total_num_replicas,
// staleness_bound. A replica's clock is the number of steps that it has finished. () -> clock int64: the
// replica takes part from now on, at the clock of the slowest. Attr task: the replica's task, whose loss
// ends its part ("" if its device names none).
const OpDef& join_clocks_op();
// (clock int64) -> clock int64: the replica has finished a step that began at `clock`. Waits while it is
// more than staleness_bound ahead of the slowest replica that takes part.
const OpDef& advance_clock_op();
// () -> (): the replica takes part no longer; nobody waits for it.
const OpDef& leave_clocks_op();
// () -> max_lead int64: the largest lead over the slowest replica with which a replica began a step; and
// int64[total_num_replicas]: the clocks, -1 for replicas that do not take part.
const OpDef& clock_statistics_op();

// What HoldSteps answers, as its output.
enum class HoldAnswer : std::int64_t {
  nothing_to_hold,  // nobody waits for others here: training is asynchronous, or there is none
  held,             // no replica changes a variable until the steps are released
  too_late,         // some replica did not come to the end of its step in time; nothing is held
};
// (replicas int64[n]) -> a HoldAnswer, int64: lets no replica begin its next step, and waits until the
// steps that were begun have ended, but not those of `replicas`, which are the asker's own and rest
// while it asks. Synchronous: until all variables have been updated, or nobody is left who could. The
// hold ends with ReleaseSteps in the same step, with that step if it fails, or `limit_ms` after it
// began. Attrs: variable (the global step's name), limit_ms.
const OpDef& hold_steps_op();
// () -> int64[2]: ends the hold. In ns, how long it took until all rested, and how long they have rested
// since; -1 and -1 if nothing was held any more. Attr variable as HoldSteps.
const OpDef& release_steps_op();

std::span<const OpDef* const> training_ops();

}  // namespace actorflow
