#include "actors/node.h"

namespace actorflow {
namespace {

Status named(const Node& node, Code code, const std::string& message) {
  const std::string name = "node '" + node.name + "'";
  if (message.find(name) != std::string::npos) return {code, message};
  return {code, name + " (" + std::string(node.op->name) + "): " + message};
}

}  // namespace

Tensor on_device(Tensor tensor, Device& device) {
  const bool wants_host = device.type() == DeviceType::cpu || tensor.dtype() == DType::string;
  if (tensor.on_host() == wants_host) return tensor;
  return wants_host ? cuda_device(0).to_host(tensor) : device.to_device(tensor);
}

Status compute_node(const ExecutableNode& item, std::span<Tensor> inputs, std::vector<Tensor>& outputs) {
  outputs.clear();
  outputs.resize(static_cast<std::size_t>(item.num_outputs));
  try {
    for (auto& input : inputs) input = on_device(std::move(input), *item.device);
    OpContext context(*item.node, *item.device, inputs, outputs);
    item.kernel->compute(context);
  } catch (const Error& error) {
    return named(*item.node, error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return named(*item.node, Code::resource_exhausted, "out of memory");
  } catch (const std::exception& error) {
    return named(*item.node, Code::internal, error.what());
  }
  return {};
}

caf::behavior node_actor(caf::event_based_actor*) {
  return {[](Fire& fire) {
    const ExecutableNode& item = fire.executable->node(fire.reply_to.node);
    std::vector<Tensor> outputs;
    Status status = compute_node(item, fire.inputs, outputs);
    fire.inputs.clear();
    if (status.ok())
      complete(fire.reply_to, std::move(outputs));
    else
      fail(fire.reply_to, std::move(status));
  }};
}

}  // namespace actorflow
