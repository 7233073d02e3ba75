#include "actors/shard/state.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataflow/graph/core_ops.h"
#include "kernels/core/kernel.h"
#include "kernels/devices/on_device.h"

namespace actorflow {

void Staleness::record(std::int64_t staleness) {
  ++steps;
  sum += staleness;
  max = std::max(max, staleness);
  ++histogram[static_cast<std::size_t>(std::clamp<std::int64_t>(staleness, 0, staleness_buckets - 1))];
}

ShardVariable* ShardState::find(const std::string& name) {
  const auto found = variables.find(name);
  return found != variables.end() && found->second.state.value.valid() ? &found->second : nullptr;
}

ShardVariable& ShardState::initialized(const std::string& name) {
  if (ShardVariable* found = find(name)) return *found;
  throw Error(
      Code::failed_precondition,
      fmt::format("variable '{}' on {} has no value; run its initializer or restore a checkpoint", name,
                  task->self.name.to_string()));
}

Device& device_of(const ShardVariable& variable) { return variable.gpu ? *variable.gpu : cpu_device(); }

void bring_to(Device& device, ShardVariable& variable) {
  if (device.type() == DeviceType::cpu || variable.gpu == &device) return;
  if (!is_floating(variable.state.value.dtype())) return;
  const auto brought = [&device](const Tensor& tensor) {
    return tensor.valid() && is_floating(tensor.dtype()) ? on_device(tensor, device) : tensor;
  };
  VariableState state{brought(variable.state.value), {}};
  for (const Tensor& slot : variable.state.slots) state.slots.push_back(brought(slot));
  variable.previous = brought(variable.previous);
  variable.state = std::move(state);
  variable.gpu = &device;
}

Tensor add_tensors(const ShardState& shard, Device& device, std::vector<Tensor> tensors) {
  Node sum;
  sum.op = &add_n_op();
  std::vector<Tensor> outputs(1);
  OpContext context(sum, device, tensors, outputs);
  shard.task->ops->make(sum, device.type())->compute(context);
  return std::move(outputs[0]);
}

const std::string& variable_of(const Node& node) { return attr<std::string>(node, "variable"); }

void check_same_type(const Node& node, const Tensor& expected, const Tensor& actual) {
  if (expected.dtype() == actual.dtype() && expected.shape() == actual.shape()) return;
  throw invalid_argument(fmt::format("node '{}' ({}): variable '{}' is {}, but got {}", node.name,
                                     node.op->name, variable_of(node), expected.describe(),
                                     actual.describe()));
}

Tensor computed(const ShardState& shard, Device& device, std::string_view op, const std::string& name,
                Attrs attrs, std::vector<Tensor> inputs) {
  Node node;
  node.name = name;
  node.op = &shard.task->ops->def(op);
  node.attrs = std::move(attrs);
  std::vector<Tensor> outputs(1);
  OpContext context(node, device, inputs, outputs, shard.task->team);
  shard.task->ops->make(node, device.type())->compute(context);
  return std::move(outputs[0]);
}

}  // namespace actorflow
