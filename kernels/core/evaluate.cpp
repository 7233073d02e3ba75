#include "kernels/core/evaluate.h"

namespace actorflow {

std::vector<Tensor> evaluate_on_cpu(const OpLibrary& ops, const Node& node, std::vector<Tensor> inputs) {
  std::vector<Tensor> outputs(node.outputs.size());
  OpContext context(node, cpu_device(), inputs, outputs);
  ops.make(node, DeviceType::cpu)->compute(context);
  return outputs;
}

}  // namespace actorflow
