// Synchronous training: gradients are gathered, and their mean is applied when enough are there.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>

#include "actors/executable.h"
#include "actors/shard/state.h"
#include "dataflow/training_ops.h"

namespace actorflow {
namespace {

void apply_gathered(const ShardState& shard, const std::string& name, ShardVariable& variable) {
  const Node& node = *variable.accumulate;
  const auto taken = variable.accumulator.take();
  variable.waiting_ticks = 0;
  update_variable(shard, *variable.optimizer, variable, taken.gradients, taken.learning_rate);
  const auto& home = attr<std::string>(node, "coordinator");
  const TaskContext& task = *shard.task;
  const TaskId coordinator = home.empty() ? task.own : task.id_of(TaskName::parse(home));
  tell(task, coordinator,
       GradientApplied{attr<std::string>(node, "global_step"), name, variable.accumulator.global_step(),
                       shard.epoch});
}

StateResult accumulate(ShardState& shard, StateCall& call) {
  const Node& node = *call.node;
  const std::string& name = variable_of(node);
  ShardVariable& variable = shard.initialized(name);
  check_same_type(node, variable.state.value, call.inputs[0]);
  variable.accumulate = &node;
  variable.optimizer = &call.executable->optimizer(call.reply_to.node);
  variable.keeps_node = call.executable;
  const auto replica = static_cast<int>(attr<std::int64_t>(node, "replica"));
  const Contribution contribution{call.inputs[1].scalar<std::int64_t>(),
                                  call.inputs[2].scalar<std::int64_t>()};
  const bool fresh = variable.accumulator.add(replica, contribution, call.inputs[0],
                                              call.inputs.size() > 3 ? call.inputs[3] : Tensor());
  const auto wanted = static_cast<std::size_t>(attr<std::int64_t>(node, "replicas_to_aggregate"));
  if (fresh && variable.accumulator.size() >= wanted) apply_gathered(shard, name, variable);
  return std::vector{Tensor::scalar<bool>(fresh)};
}

StateResult gradient_counts(ShardState& shard, StateCall& call) {
  Accumulator& accumulator = shard.initialized(variable_of(*call.node)).accumulator;
  const auto replicas = attr<std::int64_t>(*call.node, "total_num_replicas");
  std::vector<std::int64_t> values;
  for (int replica = 0; replica < replicas; ++replica) {
    const GradientCounts& counts = accumulator.counts(replica);
    values.insert(values.end(), {counts.counted, counts.stale, counts.repeated});
  }
  return std::vector{Tensor::of<std::int64_t>({replicas, 3}, values)};
}

}  // namespace

void report_waiting_gradients(ShardState& shard) {
  for (auto& [name, variable] : shard.variables) {
    if (variable.accumulator.size() == 0 || ++variable.waiting_ticks < 2) continue;
    std::string missing;
    for (int replica = 0; replica < attr<std::int64_t>(*variable.accumulate, "total_num_replicas");
         ++replica)
      if (!variable.accumulator.has(replica)) missing += fmt::format(" {}", replica);
    spdlog::warn(
        "{}: variable '{}' has {} of {} gradients for the step after {}; waiting for replicas{}",
        shard.task->self.name.to_string(), name, variable.accumulator.size(),
        attr<std::int64_t>(*variable.accumulate, "replicas_to_aggregate"),
        variable.accumulator.global_step(), missing);
  }
}

std::span<const StateOp> synchronous_handlers() {
  static const std::array all = {StateOp{&accumulate_gradient_op(), accumulate},
                                 StateOp{&gradient_counts_op(), gradient_counts, Effect::reads}};
  return all;
}

}  // namespace actorflow
