// Reading and assigning variables.
#include <fmt/format.h>

#include <array>

#include "actors/shard/state.h"
#include "dataflow/graph/state_ops.h"

namespace actorflow {
namespace {

using Outputs = std::vector<Tensor>;

// The value of a node's variable. Throws unless its type is the one that the node declares.
const Tensor& declared_value(ShardState& shard, const Node& node) {
  const Tensor& value = shard.initialized(variable_of(node)).state.value;
  const TensorType declared{attr<DType>(node, "dtype"), attr<Shape>(node, "shape")};
  if (value.dtype() != declared.dtype || !declared.shape.compatible_with(value.shape()))
    throw invalid_argument(fmt::format("node '{}' ({}): variable '{}' was declared as {}, but is {}",
                                       node.name, node.op->name, variable_of(node), declared.to_string(),
                                       value.describe()));
  return value;
}

StateResult read(ShardState& shard, StateCall& call) {
  return Outputs{declared_value(shard, *call.node)};
}

StateResult gather(ShardState& shard, StateCall& call) {
  const Tensor& value = declared_value(shard, *call.node);
  try {
    Device& device = device_of(shard.initialized(variable_of(*call.node)));
    return Outputs{computed(shard, device, "Gather", call.node->name, {{"axis", std::int64_t{0}}},
                            {value, std::move(call.inputs[0])})};
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("variable '{}': {}", variable_of(*call.node), error.what()));
  }
}

// Slots and the count of updates start anew: they belong to the value that is replaced.
StateResult assign(ShardState& shard, StateCall& call) {
  ShardVariable& variable = shard.variables[variable_of(*call.node)];
  if (variable.state.value.valid()) check_same_type(*call.node, variable.state.value, call.inputs[0]);
  variable.state = {std::move(call.inputs[0]), {}};
  variable.gpu = nullptr;
  variable.slice.reset();
  variable.slots_step = -1;
  variable.slots_of.clear();
  variable.applied = {};
  return Outputs{};
}

StateResult assign_add(ShardState& shard, StateCall& call) {
  ShardVariable& variable = shard.initialized(variable_of(*call.node));
  Tensor& value = variable.state.value;
  check_same_type(*call.node, value, call.inputs[0]);
  Outputs sum{add_tensors(shard, device_of(variable), {value, call.inputs[0]})};
  value = sum[0];
  return sum;
}

StateResult is_initialized(ShardState& shard, StateCall& call) {
  return Outputs{Tensor::scalar<bool>(shard.find(variable_of(*call.node)) != nullptr)};
}

}  // namespace

std::span<const StateOp> variable_handlers() {
  static const std::array all = {
      StateOp{&read_variable_op(), read, Effect::reads},
      StateOp{&assign_variable_op(), assign},
      StateOp{&assign_add_variable_op(), assign_add, Effect::changes, is_first},
      StateOp{&is_initialized_op(), is_initialized, Effect::reads},
      StateOp{&gather_variable_op(), gather, Effect::reads, is_first},
  };
  return all;
}

}  // namespace actorflow
