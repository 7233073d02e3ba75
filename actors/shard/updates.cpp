// Asynchronous training: each gradient is applied as it comes.
#include <array>

#include "actors/shard/state.h"
#include "dataflow/training_ops.h"

namespace actorflow {
namespace {

using Outputs = std::vector<Tensor>;

Optimizer optimizer_of(const Node& node) {
  return parse_optimizer(attr<std::string>(node, "optimizer"),
                         attr<std::vector<double>>(node, "hyperparameters"));
}

StateResult apply(ShardState& shard, StateCall& call) {
  ShardVariable& variable = shard.initialized(variable_of(*call.node));
  check_same_type(*call.node, variable.state.value, call.inputs[0]);
  update_variable(shard, *call.node, variable, {call.inputs.data(), 1});
  return Outputs{};
}

StateResult count_step(ShardState& shard, StateCall& call) {
  const std::string& name = variable_of(*call.node);
  Tensor& value = shard.initialized(name).state.value;
  const auto before = value.scalar<std::int64_t>();
  shard.staleness[name].record(before - call.inputs[0].scalar<std::int64_t>());
  value = Tensor::scalar<std::int64_t>(before + 1);
  return Outputs{value};
}

StateResult staleness(ShardState& shard, StateCall& call) {
  const auto found = shard.staleness.find(variable_of(*call.node));
  const Staleness seen = found == shard.staleness.end() ? Staleness{} : found->second;
  return Outputs{Tensor::of<double>(
      {3}, {static_cast<double>(seen.steps), seen.mean(), static_cast<double>(seen.max)})};
}

}  // namespace

void update_variable(const ShardState& shard, const Node& node, ShardVariable& variable,
                     std::span<const Tensor> gradients) {
  const Optimizer optimizer = optimizer_of(node);
  if (variable.state.slots.empty()) make_slots(optimizer, variable.state, cpu_device());
  apply_mean(optimizer, variable.state, gradients, cpu_device(), shard.task->team);
}

std::span<const StateOp> update_handlers() {
  static const std::array all = {
      StateOp{&apply_gradient_op(), apply},
      StateOp{&count_step_op(), count_step},
      StateOp{&staleness_op(), staleness, Effect::reads},
  };
  return all;
}

}  // namespace actorflow
