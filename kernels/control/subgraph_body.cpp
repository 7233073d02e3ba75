#include "kernels/control/subgraph_body.h"

namespace actorflow {

std::vector<TensorType> types_of_inputs(const InferContext& c, int first) {
  std::vector<TensorType> types;
  for (int i = first; i < c.inputs(); ++i) types.push_back(c.input(i));
  return types;
}

std::vector<Tensor> inputs_of(const OpContext& c, int first) {
  std::vector<Tensor> inputs;
  for (int i = first; i < c.inputs(); ++i) inputs.push_back(c.input(i));
  return inputs;
}

void set_outputs(OpContext& c, std::vector<Tensor> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    c.set_output(static_cast<int>(i), std::move(outputs[i]));
}

}  // namespace actorflow
