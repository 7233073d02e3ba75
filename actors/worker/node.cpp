#include "actors/worker/node.h"

#include <chrono>

#include "dataflow/values/check.h"
#include "kernels/core/node_error.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

Status run_kernel(const Executable& executable, const ExecutableNode& item, StepId step,
                  std::span<Tensor> inputs, std::span<Tensor> outputs) {
  try {
    for (auto& input : inputs) input = on_device(std::move(input), *item.device);
    const StepInterruption interruption(executable.given_up(), step);
    OpContext context(*item.node, *item.device, inputs, outputs, executable.team(), &interruption);
    item.kernel->compute(context);
  } catch (...) {
    const Status why = current_exception_status();
    const bool names_its_own = item.node->op == &region_op() && why.message.starts_with("node '");
    return {why.code, names_its_own ? why.message : naming(*item.node, why.message)};
  }
  return {};
}

}  // namespace

Status compute_node(const Executable& executable, NodeId id, StepId step, std::span<Tensor> inputs,
                    std::vector<Tensor>& outputs) {
  const ExecutableNode& item = executable.node(id);
  ACTORFLOW_CHECK(item.kernel, item.node->name);
  outputs.clear();
  outputs.resize(static_cast<std::size_t>(item.num_outputs));
  NodeCost& cost = executable.cost(id);
  if (!cost.worth_measuring()) return run_kernel(executable, item, step, inputs, outputs);
  const auto start = executable.clock().now();
  Status status = run_kernel(executable, item, step, inputs, outputs);
  cost.measured(std::chrono::nanoseconds(executable.clock().now() - start).count());
  return status;
}

caf::behavior costly_node_actor(PieceActor* self) {
  self->introduce("node", nullptr);
  return guarded(self, self, [](Fire& fire) {
    std::vector<Tensor> outputs;
    Status status =
        compute_node(*fire.executable, fire.reply_to.node, fire.reply_to.step, fire.inputs, outputs);
    fire.inputs.clear();
    if (status.ok())
      complete(fire.reply_to, std::move(outputs));
    else
      fail(fire.reply_to, std::move(status));
  });
}

}  // namespace actorflow
