// Asynchronous training: each gradient is applied as it comes.
#include <fmt/format.h>

#include <array>

#include "actors/executable.h"
#include "actors/shard/state.h"
#include "dataflow/training_ops.h"

namespace actorflow {
namespace {

using Outputs = std::vector<Tensor>;

double scalar_value(const Tensor& tensor) {
  return tensor.dtype() == DType::float32 ? static_cast<double>(tensor.scalar<float>())
                                          : tensor.scalar<double>();
}

StateResult apply(ShardState& shard, StateCall& call) {
  ShardVariable& variable = shard.initialized(variable_of(*call.node));
  check_same_type(*call.node, variable.state.value, call.inputs[0]);
  const Tensor learning_rate = call.inputs.size() > 1 ? call.inputs[1] : Tensor();
  const Gradient gradient(call.inputs[0]);
  update_variable(shard, call.executable->optimizer(call.reply_to.node), variable, {&gradient, 1},
                  learning_rate);
  return Outputs{};
}

StateResult apply_sparse(ShardState& shard, StateCall& call) {
  ShardVariable& variable = shard.initialized(variable_of(*call.node));
  const bool has_rate = call.inputs.size() % 2 != 0;
  const auto rows = std::span(call.inputs).first(call.inputs.size() - (has_rate ? 1 : 0));
  const Gradient gradient(sparse_gradient(*call.node, variable, rows));
  update_variable(shard, call.executable->optimizer(call.reply_to.node), variable, {&gradient, 1},
                  has_rate ? call.inputs.back() : Tensor());
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
  return Outputs{
      Tensor::of<double>({3},
                         {static_cast<double>(seen.steps), seen.mean(), static_cast<double>(seen.max)}),
      Tensor::of<std::int64_t>({staleness_buckets}, {seen.histogram.begin(), seen.histogram.end()})};
}

}  // namespace

SparseGradient sparse_gradient(const Node& node, const ShardVariable& variable,
                               std::span<const Tensor> inputs) {
  SparseGradient gradient;
  for (std::size_t i = 0; i < inputs.size(); i += 2) gradient.push_back({inputs[i], inputs[i + 1]});
  try {
    const Tensor& value = variable.state.value;
    check_sparse_gradient({value.dtype(), value.shape()}, gradient, cpu_device());
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("node '{}' ({}): gradient of variable '{}', {}: {}", node.name,
                                          node.op->name, variable_of(node),
                                          variable.state.value.describe(), error.what()));
  }
  return gradient;
}

void update_variable(const ShardState& shard, const Optimizer& optimizer, ShardVariable& variable,
                     std::span<const Gradient> gradients, const Tensor& learning_rate) {
  if (variable.slots_of != optimizer_name(optimizer)) {
    make_slots(optimizer, variable.state, cpu_device());
    variable.slots_of = optimizer_name(optimizer);
  }
  const auto apply = [&](const Optimizer& with) {
    apply_mean(with, variable.state, gradients, cpu_device(), shard.task->team);
  };
  if (learning_rate.valid())
    apply(with_learning_rate(optimizer, scalar_value(learning_rate)));
  else
    apply(optimizer);
}

std::span<const StateOp> update_handlers() {
  static const std::array all = {
      StateOp{&apply_gradient_op(), apply},
      StateOp{&apply_sparse_gradient_op(), apply_sparse},
      StateOp{&count_step_op(), count_step},
      StateOp{&staleness_op(), staleness, Effect::reads},
  };
  return all;
}

}  // namespace actorflow
