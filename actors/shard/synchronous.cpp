// Synchronous training: gradients are gathered, and their mean is applied when enough are there.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>

#include "actors/core/executable.h"
#include "actors/probes/point.h"
#include "actors/shard/kept_rows.h"
#include "actors/shard/state.h"
#include "dataflow/ops/training_ops.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

Point said_again("an update announced again after a loss");

TaskId coordinator_of(const ShardState& shard, const ShardVariable& variable) {
  const auto& task = attr<std::string>(*variable.accumulate, "coordinator");
  return task.empty() ? shard.task->own : shard.task->id_of(TaskName::parse(task));
}

void announce(const ShardState& shard, const std::string& name, const ShardVariable& variable) {
  tell(*shard.task, coordinator_of(shard, variable),
       GradientApplied{attr<std::string>(*variable.accumulate, "global_step"), name,
                       variable.accumulator.global_step(), shard.epoch});
}

// If it throws, the variable is as it was, and the last gradient can be handed in again.
void apply_gathered(const ShardState& shard, ShardVariable& variable) {
  const auto all = variable.accumulator.gather(device_of(variable), shard.task->team);
  // With it the update makes a new value; a table of which it changes some rows is not copied for that.
  Tensor before;
  std::optional<GradientRows> rows_before;
  if (variable.accumulate->op == &accumulate_gradient_op())
    before = variable.state.value;
  else
    rows_before = copy_rows(on_device(variable.state.value, cpu_device()), all.gradients);
  update_variable(shard, *variable.optimizer, variable, all.gradients, all.learning_rate);
  if (before.valid()) variable.previous = std::move(before);
  if (rows_before) variable.previous_rows = std::move(rows_before);
  variable.accumulator.advance();
  variable.waiting_ticks = 0;
}

// What a replica contributes to a step, besides its gradient.
struct HandedIn {
  Contribution contribution;
  std::optional<Gradient> gradient;
  Tensor learning_rate;
};

StateResult accumulate(ShardState& shard, const StateCall& call, ShardVariable& variable, HandedIn in) {
  const Node& node = *call.node;
  variable.accumulate = &node;
  variable.optimizer = &call.executable->optimizer(call.reply_to.node);
  variable.keeps_node = call.executable;
  auto& accumulator = variable.accumulator;
  const auto replica = static_cast<int>(attr<std::int64_t>(node, "replica"));
  const auto wanted = static_cast<std::size_t>(attr<std::int64_t>(node, "replicas_to_aggregate"));
  const Contribution before = accumulator.last(replica);
  const std::size_t waiting = accumulator.size();
  std::vector fresh{Tensor::scalar<bool>(true)};
  if (!accumulator.add(replica, in.contribution, std::move(in.gradient), std::move(in.learning_rate)))
    return std::vector{Tensor::scalar<bool>(false)};
  if (accumulator.size() > waiting) try {
      if (accumulator.size() >= wanted)
        apply_gathered(shard, variable);
      else if (wanted > Accumulator::most_kept)
        accumulator.merge(device_of(variable), shard.task->team);
    } catch (...) {
      accumulator.withdraw(before);
      throw;
    }
  // Also for a repeated gradient: the step may have failed before the announcement.
  if (accumulator.global_step() > in.contribution.step) announce(shard, variable_of(node), variable);
  return fresh;
}

Contribution contribution_of(const Tensor& local_step, const Tensor& serial) {
  return {local_step.scalar<std::int64_t>(), serial.scalar<std::int64_t>()};
}

// Inputs: gradient, local step, serial and perhaps a learning rate.
StateResult accumulate_dense(ShardState& shard, StateCall& call, const BadElements& bad) {
  ShardVariable& variable = shard.initialized(variable_of(*call.node));
  auto& inputs = call.inputs;
  return accumulate(shard, call, variable,
                    {contribution_of(inputs[1], inputs[2]),
                     counted_gradient(*call.node, variable, std::move(inputs[0]), bad),
                     inputs.size() > 3 ? inputs[3] : Tensor()});
}

// Inputs: local step, serial, values and indices by turns, and perhaps a learning rate.
StateResult accumulate_sparse(ShardState& shard, StateCall& call) {
  ShardVariable& variable = shard.initialized(variable_of(*call.node));
  const auto& inputs = call.inputs;
  const bool has_rate = inputs.size() % 2 != 0;
  const auto rows = std::span(inputs).subspan(2, inputs.size() - (has_rate ? 3 : 2));
  return accumulate(
      shard, call, variable,
      {contribution_of(inputs[0], inputs[1]), sparse_gradient(shard, *call.node, variable, rows),
       has_rate ? inputs.back() : Tensor()});
}

StateResult read_at_step(ShardState& shard, StateCall& call) {
  const ShardVariable& variable = shard.initialized(variable_of(*call.node));
  const auto step = call.inputs[0].scalar<std::int64_t>();
  const Tensor& value = variable.state.value;
  if (step + 1 != variable.accumulator.global_step()) return std::vector{value};
  if (variable.previous_rows)
    return std::vector{with_rows(on_device(value, cpu_device()), *variable.previous_rows)};
  return std::vector{variable.previous.valid() ? variable.previous : value};
}

StateResult has_gradient(ShardState& shard, StateCall& call) {
  const ShardVariable& variable = shard.initialized(variable_of(*call.node));
  const auto replica = static_cast<int>(attr<std::int64_t>(*call.node, "replica"));
  const auto step = call.inputs[0].scalar<std::int64_t>();
  return std::vector{Tensor::scalar(variable.accumulator.has_counted(replica, step))};
}

StateResult gradient_counts(ShardState& shard, StateCall& call) {
  ShardVariable& variable = shard.initialized(variable_of(*call.node));
  const auto replicas = attr<std::int64_t>(*call.node, "total_num_replicas");
  std::vector<std::int64_t> values;
  for (int replica = 0; replica < replicas; ++replica) {
    const GradientCounts& gathered = variable.accumulator.counts(replica);
    const GradientCounts applied = variable.applied.counts(replica);
    values.insert(values.end(),
                  {gathered.counted + applied.counted, gathered.stale,
                   gathered.repeated + applied.repeated, gathered.not_finite + applied.not_finite});
  }
  return std::vector{Tensor::of<std::int64_t>({replicas, gradient_count_fields}, values)};
}

// The numbers of the replicas whose gradients are missing.
std::string missing_replicas(const ShardVariable& variable) {
  std::string missing;
  for (int replica = 0; replica < attr<std::int64_t>(*variable.accumulate, "total_num_replicas");
       ++replica)
    if (!variable.accumulator.has(replica)) missing += fmt::format(" {}", replica);
  return missing;
}

}  // namespace

void report_waiting_gradients(ShardState& shard) {
  const std::string* name = nullptr;
  const ShardVariable* first = nullptr;
  int waiting = 0;
  for (auto& [each, variable] : shard.variables) {
    if (variable.accumulator.size() == 0 || ++variable.waiting_ticks < 2 || ++waiting > 1) continue;
    name = &each;
    first = &variable;
  }
  if (!first) return;
  const std::string missing = missing_replicas(*first);
  if (!shard.gradient_reports.is_due(missing, shard.task->clock->now())) return;
  spdlog::warn(
      "{}: variable '{}' has {} of {} gradients for the step after {}; waiting for replicas{}{}",
      shard.task->self.name.to_string(), *name, first->accumulator.size(),
      attr<std::int64_t>(*first->accumulate, "replicas_to_aggregate"), first->accumulator.global_step(),
      missing, waiting == 1 ? "" : fmt::format("; {} other variables wait, too", waiting - 1));
}

void announce_again(const ShardState& shard, TaskId coordinator) {
  for (const auto& [name, variable] : shard.variables)
    if (variable.accumulate && variable.accumulator.global_step() > 0 &&
        coordinator_of(shard, variable) == coordinator) {
      said_again.hit();
      announce(shard, name, variable);
    }
}

std::span<const StateOp> synchronous_handlers() {
  static const std::array all = {
      gradient_handler<accumulate_dense, is_first>(accumulate_gradient_op()),
      StateOp{&accumulate_sparse_gradient_op(), accumulate_sparse},
      StateOp{&read_at_step_op(), read_at_step, Effect::reads},
      StateOp{&has_gradient_op(), has_gradient, Effect::reads},
      StateOp{&gradient_counts_op(), gradient_counts, Effect::reads}};
  return all;
}

}  // namespace actorflow
