#include "dataflow/train/replicate.h"

#include <algorithm>
#include <variant>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/containers.h"
#include "dataflow/graph/gradient.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/train/replica_training.h"
#include "dataflow/train/update_nodes.h"

namespace actorflow {
namespace {

void check_replica(const Replication& r) {
  if (r.replicas < 1 || r.replica < 0 || r.replica >= r.replicas)
    throw invalid_argument("replica " + std::to_string(r.replica) + " is not one of " +
                           std::to_string(r.replicas) + " replicas; they are numbered from 0");
}

void check_strategy(const Asynchronous&) {}

void check_strategy(const BoundedStaleness& s) {
  if (s.bound < 0)
    throw invalid_argument("the bound of staleness must be 0 or more, got " + std::to_string(s.bound));
}

void check_strategy(const Synchronous& s) {
  if (s.replicas_to_aggregate < 0 || s.initial_tokens < 0)
    throw invalid_argument("replicas_to_aggregate and initial_tokens must be 0 or more, got " +
                           std::to_string(s.replicas_to_aggregate) + " and " +
                           std::to_string(s.initial_tokens));
}

void check_strategy(const AllReduce& s) {
  if (s.tasks.empty())
    throw invalid_argument("all-reduce needs the tasks of the replicas: AllReduce::tasks");
  if (s.first_bucket_bytes < 1 || s.bucket_bytes < 1)
    throw invalid_argument("buckets of gradients have 1 byte or more, got " +
                           std::to_string(s.first_bucket_bytes) + " and " +
                           std::to_string(s.bucket_bytes));
  if (s.local_steps < 1)
    throw invalid_argument("replicas agree after 1 local step or more, got " +
                           std::to_string(s.local_steps));
  if (s.local_steps == 1) return;
  if (s.sharded_optimizer)
    throw invalid_argument(
        "with local_steps each replica updates all variables by itself, so that no optimizer is "
        "sharded: "
        "leave out local_steps or sharded_optimizer");
  const Nesterov& outer = s.outer;
  if (!(outer.learning_rate > 0) || !(outer.momentum >= 0 && outer.momentum < 1))
    throw invalid_argument(
        "the outer optimizer has a learning rate above 0 and a momentum from 0 to below 1, got " +
        std::to_string(outer.learning_rate) + " and " + std::to_string(outer.momentum));
}

// Whether a transformation gets the means over all replicas.
bool has_means(const Strategy& strategy) {
  const auto* reduce = std::get_if<AllReduce>(&strategy);
  return reduce && reduce->local_steps == 1;
}

// With parameter servers a mean is there only on the task of its variable, which applies it as soon as
// enough replicas have handed in theirs. A norm over the variables of several tasks would need another
// round between these before any of them may apply, with a barrier of its own that outlives the loss of
// each task and the return of a replica in the middle of a step. So there each replica changes what it
// hands in. Between two agreements there is no mean.
TrainOp train(Training training) {
  check_replica(training.replication);
  if (!has_means(training.replication.strategy))
    training.updates = transformed(training, training.updates);
  return std::visit(
      [&training](const auto& strategy) {
        check_strategy(strategy);
        return add_training(training, strategy);
      },
      training.replication.strategy);
}

}  // namespace

Variable global_step(Graph& graph) {
  const auto name = in_container(graph.current_container(), "global_step");
  const auto found = std::ranges::find(graph.variables(), name, &Variable::name);
  if (found != graph.variables().end()) return *found;
  return graph.variable("global_step", graph.constant(std::int64_t{0}, "global_step/initial"));
}

std::vector<GradientAndVariable> compute_gradients(Output loss, const std::vector<Variable>& variables) {
  const auto computed = gradients(loss, variables);
  std::vector<GradientAndVariable> updates;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (computed[i]) updates.push_back({computed[i], variables[i]});
  if (updates.empty())
    throw invalid_argument("the loss '" + loss.name() + "' depends on none of the " +
                           std::to_string(variables.size()) +
                           " variables to train, or only through ops without a gradient");
  return updates;
}

TrainOp apply_gradients(Graph& graph, const std::vector<GradientAndVariable>& gradients,
                        Variable global_step, const OptimizerChoice& optimizer,
                        const Replication& replication, Output learning_rate) {
  if (gradients.empty()) throw invalid_argument("there are no gradients to apply");
  for (const auto& [gradient, variable] : gradients) {
    expect_in_graph(graph, variable, "a variable to apply a gradient to");
    expect_in_graph(graph, gradient, "the gradient of variable '" + variable.name() + "'");
  }
  return train({graph, gradients, gradients.front().gradient.node().device, global_step, optimizer,
                replication, learning_rate});
}

TrainOp minimize(Graph& graph, Output loss, const std::vector<Variable>& variables, Variable global_step,
                 const OptimizerChoice& optimizer, const Replication& replication,
                 Output learning_rate) {
  const auto updates = compute_gradients(loss, variables);
  return train({graph, updates, loss.node().device, global_step, optimizer, replication, learning_rate});
}

}  // namespace actorflow
