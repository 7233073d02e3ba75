#include "actors/strategies/distributed_optimizer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "actors/monitored/hooks.h"
#include "actors/strategies/replica_settings.h"
#include "dataflow/cluster/task_config.h"
#include "dataflow/graph/core_ops.h"
#include "dataflow/train/replicated_state.h"
#include "dataflow/train/whole_steps.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/ops/learning_rate.h"

namespace actorflow {
namespace {

DistributedOptions completed(const Server& server, DistributedOptions options) {
  if (options.backward_passes_per_step < 1)
    throw invalid_argument(fmt::format("expected 1 or more backward passes per step, got {}",
                                       options.backward_passes_per_step));
  if (options.buckets.local_steps != 1)
    throw invalid_argument(fmt::format(
        "a distributed optimizer averages the gradients of each step: buckets.local_steps is "
        "{}; leave it out, or train by fit() or run_replica()",
        options.buckets.local_steps));
  if (options.tasks.empty())
    options.tasks = TaskConfig::make(server.cluster(), server.name()).replica_names();
  options.buckets.tasks = options.tasks;
  return options;
}

int rank_of(const Server& server, const std::vector<std::string>& tasks) {
  const auto found = std::ranges::find(tasks, server.name().to_string());
  if (found == tasks.end())
    throw invalid_argument(
        fmt::format("{} is not among the ranks: {}", server.name().to_string(), fmt::join(tasks, " ")));
  return static_cast<int>(found - tasks.begin());
}

}  // namespace

DistributedOptimizer::DistributedOptimizer(const Server& server, OptimizerChoice optimizer,
                                           DistributedOptions options)
    : optimizer_(std::move(optimizer)),
      options_(completed(server, std::move(options))),
      rank_(rank_of(server, options_.tasks)) {}

DistributedTrainOp DistributedOptimizer::minimize(Graph& graph, Output loss,
                                                  const std::vector<Variable>& variables,
                                                  Variable global_step, Output learning_rate) {
  DistributedTrainOp train;
  std::vector<Output> cleared;
  auto gradients = compute_gradients(loss, variables);
  if (options_.backward_passes_per_step > 1)
    gradients = accumulated(graph, std::move(gradients), train, cleared);
  static_cast<TrainOp&>(train) = apply_gradients(graph, gradients, global_step, optimizer_,
                                                 {.replica = rank_,
                                                  .replicas = size(),
                                                  .strategy = options_.buckets,
                                                  .not_finite = options_.not_finite,
                                                  .transform = options_.transform},
                                                 learning_rate);
  if (!cleared.empty())
    train.step = graph.after(with_step(train, cleared),
                             [&] { return graph.add(identity_op(), {train.step}, {}, "step"); });
  train.local_init = copy_state_of_first(graph, graph.variables(), options_.tasks, rank_);
  log_once(variables, static_cast<bool>(learning_rate));
  return train;
}

// The sums of earlier passes and this one; `cleared` are the assignments that begin them anew.
std::vector<GradientAndVariable> DistributedOptimizer::accumulated(
    Graph& graph, std::vector<GradientAndVariable> gradients, DistributedTrainOp& train,
    std::vector<Output>& cleared) const {
  std::vector<Output> added;
  for (auto& [gradient, variable] : gradients) {
    const TensorType type = variable.type();
    const Output zeros = fill(graph, type.shape, 0, type.dtype);
    const Variable sum = graph.variable("accumulated/" + variable.name(), zeros);
    added.push_back(graph.assign_add(sum, gradient));
    cleared.push_back(graph.assign(sum, zeros));
    gradient = sum.value() + gradient;
  }
  train.accumulate = graph.group(added, "accumulate");
  return gradients;
}

Output DistributedOptimizer::warm_up(double rate, Output global_step, std::int64_t steps_per_epoch,
                                     double epochs) const {
  const auto steps = whole_steps(epochs * static_cast<double>(steps_per_epoch));
  return linear_warmup(rate, global_step, steps, 1.0 / size());
}

MonitoredOptions DistributedOptimizer::monitored(const TrainOp& train, MonitoredOptions options) const {
  options.is_chief = rank_ == 0;
  options.chief = TaskName::parse(options_.tasks[0]);
  options.replicated = true;
  options.hooks.push_back(sync_replicas(train));
  return options;
}

void DistributedOptimizer::log_once(const std::vector<Variable>& variables, bool has_rate) {
  if (rank_ != 0 || std::exchange(logged_, true)) return;
  const std::int64_t passes = options_.backward_passes_per_step, all = passes * size();
  const std::string examples =
      options_.batch_size == 0 ? "" : fmt::format(" ({} examples)", all * options_.batch_size);
  spdlog::info("a step takes {} batches{}, {} of each of {} ranks; {}{}", all, examples, passes, size(),
               describe_optimizers(optimizer_, variables),
               has_rate ? ", at a rate that each step computes" : "");
}

}  // namespace actorflow
