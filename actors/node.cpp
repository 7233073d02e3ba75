#include "actors/node.h"

#include <chrono>

#include "kernels/on_device.h"

namespace actorflow {
namespace {

Status named(const Node& node, Code code, const std::string& message) {
  const std::string name = "node '" + node.name + "'";
  if (message.find(name) != std::string::npos) return {code, message};
  return {code, name + " (" + std::string(node.op->name) + "): " + message};
}

Status run_kernel(const ExecutableNode& item, Team* team, std::span<Tensor> inputs,
                  std::span<Tensor> outputs) {
  try {
    for (auto& input : inputs) input = on_device(std::move(input), *item.device);
    OpContext context(*item.node, *item.device, inputs, outputs, team);
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

}  // namespace

Status compute_node(const Executable& executable, NodeId id, std::span<Tensor> inputs,
                    std::vector<Tensor>& outputs) {
  const ExecutableNode& item = executable.node(id);
  outputs.clear();
  outputs.resize(static_cast<std::size_t>(item.num_outputs));
  NodeCost& cost = executable.cost(id);
  if (!cost.worth_measuring()) return run_kernel(item, executable.team(), inputs, outputs);
  const auto start = executable.clock().now();
  Status status = run_kernel(item, executable.team(), inputs, outputs);
  cost.measured(std::chrono::nanoseconds(executable.clock().now() - start).count());
  return status;
}

caf::behavior node_actor(PieceActor*) {
  return {[](Fire& fire) {
    std::vector<Tensor> outputs;
    Status status = compute_node(*fire.executable, fire.reply_to.node, fire.inputs, outputs);
    fire.inputs.clear();
    if (status.ok())
      complete(fire.reply_to, std::move(outputs));
    else
      fail(fire.reply_to, std::move(status));
  }};
}

}  // namespace actorflow
