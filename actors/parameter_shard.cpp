#include "actors/parameter_shard.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "dataflow/core_ops.h"

namespace actorflow {
namespace {

constexpr std::chrono::seconds report_interval{5};

const std::string& variable_of(const Node& node) { return attr<std::string>(node, "variable"); }

Optimizer optimizer_of(const Node& node) {
  return parse_optimizer(attr<std::string>(node, "optimizer"),
                         attr<std::vector<double>>(node, "hyperparameters"));
}

void check_same_type(const Node& node, const Tensor& expected, const Tensor& actual) {
  if (expected.dtype() == actual.dtype() && expected.shape() == actual.shape()) return;
  throw invalid_argument(fmt::format("node '{}' ({}): variable '{}' is {}, but got {}", node.name,
                                     node.op->name, variable_of(node), expected.describe(),
                                     actual.describe()));
}

Tensor step_number(std::int64_t value) { return Tensor::scalar<std::int64_t>(value); }

}  // namespace

void Staleness::record(std::int64_t staleness) {
  ++steps;
  sum += staleness;
  max = std::max(max, staleness);
}

caf::behavior ParameterShard::behavior() {
  self_->delayed_send(self_, report_interval, Tick{});
  return {
      [this](StateCall& call) {
        try {
          complete(call.reply_to, run(call));
        } catch (const Error& error) {
          fail(call.reply_to, error.status());
        }
      },
      [this](const SetGlobalStep& message) {
        variables_[message.variable].state.value = step_number(message.value);
      },
      [this](const AskGlobalStep& message) {
        const auto found = variables_.find(message.variable);
        const bool known = found != variables_.end() && found->second.state.value.valid();
        const auto value = known ? found->second.state.value.scalar<std::int64_t>() : 0;
        caf::anon_send(task_->coordinator, GlobalStepIs{message.variable, value});
      },
      [this](Tick) { report_waiting(); },
  };
}

std::vector<Tensor> ParameterShard::run(StateCall& call) {
  const Node& node = *call.node;
  if (node.op == &read_variable_op()) return read(node);
  if (node.op == &assign_variable_op()) return assign(node, std::move(call.inputs[0]));
  if (node.op == &assign_add_variable_op()) return assign_add(node, call.inputs[0]);
  if (node.op == &apply_gradient_op()) return apply(node, call.inputs[0]);
  if (node.op == &accumulate_gradient_op()) return accumulate(call);
  if (node.op == &count_step_op()) return count_step(node, call.inputs[0]);
  if (node.op == &staleness_op()) return staleness(node);
  if (node.op == &is_initialized_op()) {
    const auto found = variables_.find(variable_of(node));
    return {Tensor::scalar<bool>(found != variables_.end() && found->second.state.value.valid())};
  }
  throw Error(Code::unimplemented,
              fmt::format("node '{}': a parameter shard cannot do {}", node.name, node.op->name));
}

ParameterShard::Variable& ParameterShard::initialized(const std::string& name) {
  const auto found = variables_.find(name);
  if (found == variables_.end() || !found->second.state.value.valid())
    throw Error(
        Code::failed_precondition,
        fmt::format("variable '{}' on {} has no value; run its initializer or restore a checkpoint",
                    name, task_->self.name.to_string()));
  return found->second;
}

std::vector<Tensor> ParameterShard::read(const Node& node) {
  const Tensor& value = initialized(variable_of(node)).state.value;
  const TensorType& declared = node.outputs[0];
  if (value.dtype() != declared.dtype || !declared.shape.compatible_with(value.shape()))
    throw invalid_argument(
        fmt::format("node '{}' (ReadVariable): variable '{}' was declared as {}, but is {}", node.name,
                    variable_of(node), declared.to_string(), value.describe()));
  return {value};
}

// The slots start anew: they belong to the value that is replaced.
std::vector<Tensor> ParameterShard::assign(const Node& node, Tensor value) {
  Variable& variable = variables_[variable_of(node)];
  if (variable.state.value.valid()) check_same_type(node, variable.state.value, value);
  variable.state = {std::move(value), {}};
  return {};
}

std::vector<Tensor> ParameterShard::assign_add(const Node& node, const Tensor& delta) {
  Tensor& value = initialized(variable_of(node)).state.value;
  check_same_type(node, value, delta);
  Node sum;
  sum.op = &add_n_op();
  std::vector<Tensor> inputs{value, delta}, outputs(1);
  OpContext context(sum, cpu_device(), inputs, outputs);
  task_->ops->make(sum, DeviceType::cpu)->compute(context);
  value = std::move(outputs[0]);
  return {value};
}

std::vector<Tensor> ParameterShard::apply(const Node& node, const Tensor& gradient) {
  Variable& variable = initialized(variable_of(node));
  check_same_type(node, variable.state.value, gradient);
  update(node, variable, {&gradient, 1});
  return {};
}

void ParameterShard::update(const Node& node, Variable& variable, std::span<const Tensor> gradients) {
  const Optimizer optimizer = optimizer_of(node);
  if (variable.state.slots.empty()) make_slots(optimizer, variable.state, cpu_device());
  actorflow::apply_mean(optimizer, variable.state, gradients, cpu_device(), task_->team);
}

std::vector<Tensor> ParameterShard::accumulate(const StateCall& call) {
  const Node& node = *call.node;
  const std::string& name = variable_of(node);
  Variable& variable = initialized(name);
  check_same_type(node, variable.state.value, call.inputs[0]);
  variable.accumulate = &node;
  variable.keeps_node = call.executable;
  const auto replica = static_cast<int>(attr<std::int64_t>(node, "replica"));
  const auto local_step = call.inputs[1].scalar<std::int64_t>();
  const bool fresh = variable.accumulator.add(replica, local_step, call.inputs[0]);
  const auto wanted = static_cast<std::size_t>(attr<std::int64_t>(node, "replicas_to_aggregate"));
  if (fresh && variable.accumulator.size() >= wanted) apply_mean(name, variable);
  return {Tensor::scalar<bool>(fresh)};
}

void ParameterShard::apply_mean(const std::string& name, Variable& variable) {
  const Node& node = *variable.accumulate;
  const std::vector<Tensor> gradients = variable.accumulator.take();
  variable.waiting_ticks = 0;
  update(node, variable, gradients);
  const auto& home = attr<std::string>(node, "coordinator");
  const TaskId coordinator = home.empty() ? task_->own : task_->id_of(TaskName::parse(home));
  tell(
      *task_, coordinator,
      GradientApplied{attr<std::string>(node, "global_step"), name, variable.accumulator.global_step()});
}

std::vector<Tensor> ParameterShard::count_step(const Node& node, const Tensor& local_step) {
  const std::string& name = variable_of(node);
  Tensor& value = initialized(name).state.value;
  const auto before = value.scalar<std::int64_t>();
  staleness_[name].record(before - local_step.scalar<std::int64_t>());
  value = step_number(before + 1);
  return {value};
}

std::vector<Tensor> ParameterShard::staleness(const Node& node) const {
  const auto found = staleness_.find(variable_of(node));
  const Staleness seen = found == staleness_.end() ? Staleness{} : found->second;
  return {Tensor::of<double>(
      {3}, {static_cast<double>(seen.steps), seen.mean(), static_cast<double>(seen.max)})};
}

// Names the replicas for which a variable has waited a whole interval.
void ParameterShard::report_waiting() {
  for (auto& [name, variable] : variables_) {
    if (variable.accumulator.size() == 0 || ++variable.waiting_ticks < 2) continue;
    std::string missing;
    for (int replica = 0; replica < attr<std::int64_t>(*variable.accumulate, "total_num_replicas");
         ++replica)
      if (!variable.accumulator.has(replica)) missing += fmt::format(" {}", replica);
    spdlog::warn(
        "{}: variable '{}' has {} of {} gradients for the step after {}; waiting for replicas{}",
        task_->self.name.to_string(), name, variable.accumulator.size(),
        attr<std::int64_t>(*variable.accumulate, "replicas_to_aggregate"),
        variable.accumulator.global_step(), missing);
  }
  self_->delayed_send(self_, report_interval, Tick{});
}

caf::behavior shard_actor(ShardActor* self, TaskRef task) {
  self->state = std::make_unique<ParameterShard>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow
