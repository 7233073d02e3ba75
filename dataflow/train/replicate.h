// Data-parallel training with a graph per replica: the nodes that each replica adds to its model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/train/optimizer_choice.h"
#include "dataflow/train/strategy.h"

namespace actorflow {

// The treatment of a gradient with NaN or infinite elements. It is never applied.
enum class NotFinite : std::uint8_t {
  fail,  // the step fails as not_finite
  skip,  // the step goes on without it: a synchronous mean is taken of the others; with all-reduce the
         // variable keeps its value in that step, on all replicas
};

struct GradientAndVariable {
  Output gradient;
  Variable variable;
};

// Adds nodes that change gradients, such as those of kernels/ops/clipping.h. It returns as many, of the
// same types, for the same variables in the same order. On every replica it is to add the same.
using GradientTransform =
    std::function<std::vector<GradientAndVariable>(std::vector<GradientAndVariable>)>;

// The place of one replica among those that train the same variables.
struct Replication {
  int replica = 0;
  int replicas = 1;
  Strategy strategy = Asynchronous{};
  NotFinite not_finite = NotFinite::fail;
  // Changes the gradients that are applied. With AllReduce it gets the means over all replicas, which
  // are those that one device would compute, and every replica changes them alike. With parameter
  // servers each replica changes its own gradients, and the mean is taken of the changed ones: a mean
  // of clipped gradients is not the clipped mean, though its norm is within the bound, too. Row-sparse
  // gradients become dense. Empty: they are applied as they are.
  GradientTransform transform{};
};

struct TrainOp {
  Output step;  // int64 scalar: the global step after this step
  // Run this once before a replica's first step, after all variables have a value, and again when the
  // replica has restarted. Synchronous: brings the replica to the current step; gradients of earlier
  // steps are dropped, and repeated ones count once. With bounded staleness: the replica takes part from
  // now on. Empty if there is nothing to do.
  Output local_init;
  // int64 scalar: the global step that the replica's next step works on. Valid after local_init.
  Output local_step;
  // What a variable needs when a synchronous replica rejoins in the middle of a step. Variables that
  // have its gradient of the step may have been updated already. After local_init the replica fetches
  // their `at_step`, the value with which the step began, and feeds it for `value` in its first step (as
  // the hook sync_replicas() does).
  struct Rejoin {
    Output value, at_step;
    Output has_gradient;  // bool scalar
  };
  std::vector<Rejoin> rejoin{};
  // Asynchronous: int64 scalars that number a step. A step counts once for each number that is fed to
  // all of them, however often it is repeated after a failure (the hook sync_replicas() feeds them); a
  // step that is fed nothing always counts.
  std::vector<Output> serials{};
  // Asynchronous: int64 scalar, the number to feed to the replica's next step. A replica that feeds it
  // runs one step at a time.
  Output next_serial;
  // For each variable int64 [replicas, 4]: how many gradients of each replica were counted, dropped as
  // stale, dropped as counted before, and counted but not finite.
  std::vector<Output> gradient_counts;
  // Asynchronous: the same counts of the replicas' steps.
  Output step_counts;
  // With bounded staleness: run this after a replica's last step, so that the others no longer wait for
  // it.
  Output leave;
  // With bounded staleness: int64 scalar, the largest lead of a replica over the slowest.
  Output max_lead;
  // With all-reduce: nodes after which the step can no longer fail because another replica is lost. What
  // a step changes besides runs after them: see with_step() in replicated_state.h.
  std::vector<Output> agreed{};
  // With AllReduce::local_steps: run this together with each step after which the replicas agree
  // (is_agreement), on all replicas with the same.
  Output agree;

  operator Output() const { return step; }  // NOLINT: what a program runs to train
};

// The graph's variable "global_step", an int64 scalar that starts at 0; made if it is not there yet.
Variable global_step(Graph& graph);

// Adds the gradients of `loss` for the variables that it depends on. A program may change them before it
// applies them: each replica changes its own. To change their mean, see Replication::transform. Throws
// invalid_argument if the loss depends on none of the variables.
std::vector<GradientAndVariable> compute_gradients(Output loss, const std::vector<Variable>& variables);

// Adds the nodes that apply the gradients. Updates are on the devices of their variables; counting and
// the barrier on that of the global step, which must name a task in synchronous training, so that other
// tasks find the barrier; the replica's own state on the device of the first gradient. `learning_rate`,
// a floating scalar that each step computes anew, replaces the optimizer's and is sent with the
// gradients. In a synchronous step the rate of the lowest replica counts; with all-reduce all replicas
// must give the same. Throws invalid_argument if there is no gradient, if the replication makes no
// sense, or if its transformation returns other gradients.
TrainOp apply_gradients(Graph& graph, const std::vector<GradientAndVariable>& gradients,
                        Variable global_step, const OptimizerChoice& optimizer,
                        const Replication& replication = {}, Output learning_rate = {});

// compute_gradients() and apply_gradients() together. The replica's own state is on the device of the
// loss.
TrainOp minimize(Graph& graph, Output loss, const std::vector<Variable>& variables, Variable global_step,
                 const OptimizerChoice& optimizer, const Replication& replication = {},
                 Output learning_rate = {});

}  // namespace actorflow
