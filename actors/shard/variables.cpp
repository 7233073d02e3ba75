// Reading and assigning variables.
#include <fmt/format.h>

#include <array>

#include "actors/shard/state.h"
#include "dataflow/state_ops.h"

namespace actorflow {
namespace {

using Outputs = std::vector<Tensor>;

StateResult read(ShardState& shard, StateCall& call) {
  const Node& node = *call.node;
  const Tensor& value = shard.initialized(variable_of(node)).state.value;
  const TensorType& declared = node.outputs[0];
  if (value.dtype() != declared.dtype || !declared.shape.compatible_with(value.shape()))
    throw invalid_argument(
        fmt::format("node '{}' (ReadVariable): variable '{}' was declared as {}, but is {}", node.name,
                    variable_of(node), declared.to_string(), value.describe()));
  return Outputs{value};
}

// The slots start anew: they belong to the value that is replaced.
StateResult assign(ShardState& shard, StateCall& call) {
  ShardVariable& variable = shard.variables[variable_of(*call.node)];
  if (variable.state.value.valid()) check_same_type(*call.node, variable.state.value, call.inputs[0]);
  variable.state = {std::move(call.inputs[0]), {}};
  return Outputs{};
}

StateResult assign_add(ShardState& shard, StateCall& call) {
  Tensor& value = shard.initialized(variable_of(*call.node)).state.value;
  check_same_type(*call.node, value, call.inputs[0]);
  value = add_tensors(shard, {value, call.inputs[0]});
  return Outputs{value};
}

StateResult is_initialized(ShardState& shard, StateCall& call) {
  return Outputs{Tensor::scalar<bool>(shard.find(variable_of(*call.node)) != nullptr)};
}

}  // namespace

std::span<const StateOp> variable_handlers() {
  static const std::array all = {
      StateOp{&read_variable_op(), read, Effect::reads},
      StateOp{&assign_variable_op(), assign},
      StateOp{&assign_add_variable_op(), assign_add},
      StateOp{&is_initialized_op(), is_initialized, Effect::reads},
  };
  return all;
}

}  // namespace actorflow
