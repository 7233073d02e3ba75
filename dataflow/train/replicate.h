// Data-parallel training between graphs: the part of the graph that each replica adds to its model.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/ops/optimizer.h"
#include "dataflow/train/strategy.h"

namespace actorflow {

// What becomes of a gradient of which an element is NaN or infinite. It is never applied.
enum class NotFinite : std::uint8_t {
  fail,  // the step fails as not_finite
  skip,  // the step goes on without it: a synchronous mean is taken of the others
};

// The place of one replica among those that train the same variables.
struct Replication {
  int replica = 0;
  int replicas = 1;
  Strategy strategy = Asynchronous{};
  NotFinite not_finite = NotFinite::fail;
};

struct TrainOp {
  Output step;  // int64 scalar: the global step after this step
  // Run it once before a replica's first step, when all variables have a value, also when the replica
  // has restarted. Synchronous: it makes the replica current; the gradients of one that is behind are
  // dropped, those that it makes again count once. With bounded staleness: the replica takes part.
  // Empty if there is nothing to do.
  Output local_init;
  // int64 scalar: the global step that the replica's next step works on. After local_init.
  Output local_step;
  // Synchronous: a replica that comes back in the middle of a step finds some variables updated already, or
  // they may be at any time: those that have its gradient of the step. After local_init it fetches `at_step` of
  // these, the value that its step is about, and feeds it for `value` in its first step (as the hook
  // sync_replicas() does).
  struct Rejoin {
    Output value, at_step;
    Output has_gradient;  // bool scalar
  };
  std::vector<Rejoin> rejoin{};
  // Asynchronous: int64 scalars. A step that is fed the same number for each of them counts once,
  // however often it is made again after a failure (the hook sync_replicas() feeds them); one that is
  // fed nothing always counts.
  std::vector<Output> serials{};
  // Asynchronous: int64 scalar, the number to feed to the replica's next step, of which only one at a
  // time may be under way then.
  Output next_serial;
  // One for each variable: int64 [replicas, 4], how many gradients of each replica were counted, dropped
  // as stale, dropped as counted before, and counted but not finite.
  std::vector<Output> gradient_counts;
  // Asynchronous: the same of the replicas' steps.
  Output step_counts;
  // With bounded staleness. Run it after a replica's last step: the others do not wait for it any
  // longer.
  Output leave;
  // With bounded staleness: int64 scalar, how far ahead of the slowest a replica was at most.
  Output max_lead;

  operator Output() const { return step; }  // NOLINT: what a program runs to train
};

// The graph's variable "global_step", an int64 scalar that starts at 0; made if it is not there yet.
Variable global_step(Graph& graph);

struct GradientAndVariable {
  Output gradient;
  Variable variable;
};

// Adds the gradients of `loss`, without those variables that it does not depend on. A program may change
// them (kernels/training.h clips them) before it applies them: each replica changes its own, and in the
// synchronous case the mean is taken of what it hands in.
// Throws invalid_argument if the loss depends on none of the variables.
std::vector<GradientAndVariable> compute_gradients(Output loss, const std::vector<Variable>& variables);

// Adds what applies the gradients. Updates are on the devices of their variables; counting and the
// barrier on that of the global step, which in the synchronous case needs to name a task for other tasks
// to find the barrier; the replica's own state on the device of the first gradient.
// `learning_rate`, a floating scalar that each step computes anew, takes the place of the optimizer's;
// it travels with the gradients. In a synchronous step that of the lowest replica counts.
// Throws invalid_argument if there is no gradient, or if the replication makes no sense.
TrainOp apply_gradients(Graph& graph, const std::vector<GradientAndVariable>& gradients,
                        Variable global_step, const Optimizer& optimizer,
                        const Replication& replication = {}, Output learning_rate = {});

// Both: computes the gradients of `loss` and applies them. The replica's own state is on the device of
// the loss.
TrainOp minimize(Graph& graph, Output loss, const std::vector<Variable>& variables, Variable global_step,
                 const Optimizer& optimizer, const Replication& replication = {},
                 Output learning_rate = {});

}  // namespace actorflow
