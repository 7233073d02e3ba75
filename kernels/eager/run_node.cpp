#include "kernels/eager/run_node.h"

#include <string>

#include "dataflow/graph/core_ops.h"
#include "kernels/core/node_error.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

// What an op of the actors works with, and what an eager program uses in its place.
std::string instead(const OpDef& op) {
  if (op.dispatch == Dispatch::step)
    return "it gets its tensor from the step of a session; use GradientTape::constant(tensor)";
  if (op.dispatch == Dispatch::collective)
    return "it needs the other ranks of its step; use a Communicator and all_reduce_gradients()";
  return std::string("it needs the ") + (op.dispatch == Dispatch::queue ? "queues" : "state") +
         " of a task; build a Graph and run it in a Session";
}

}  // namespace

void expect_kernel(const Node& node) {
  if (node.op->dispatch == Dispatch::kernel) return;
  throw Error(Code::unimplemented, naming(node, "it cannot run eagerly: " + instead(*node.op)));
}

void run_node(EagerContext& context, const Node& node, std::span<Tensor> inputs,
              std::span<Tensor> outputs) {
  const auto kernel = context.kernel_of(node);
  OpContext call(node, context.device(), inputs, outputs, &context.team());
  try {
    kernel->compute(call);
  } catch (const Error& error) {
    throw Error(error.code(), naming(node, error.what()));
  }
}

Tensor constant_of(EagerContext& context, const Node& node) {
  return on_device(attr<Tensor>(node, "value"), context.device());
}

}  // namespace actorflow
