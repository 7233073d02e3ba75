// A graph as a function of tensors.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

class RegionBody;

// Computes outputs from inputs on the CPU, on the thread that calls it: without session, actors and
// state. Copies are cheap. Thread-safe.
class GraphFunction {
 public:
  // What variables the outputs need come from `variables`, by name: those of a Checkpoint, or of a
  // session. The graph is copied. Throws invalid_argument, naming the node, for an output that needs
  // something that is neither input nor variable; not_found for a variable without a value; and
  // unimplemented for an op without a kernel.
  GraphFunction(const std::vector<Output>& inputs, const std::vector<Output>& outputs,
                std::map<std::string, Tensor> variables = {});

  // In the order of the outputs. Throws what the kernels throw, naming the node.
  std::vector<Tensor> operator()(std::vector<Tensor> inputs) const;

 private:
  std::size_t inputs_;
  std::vector<Tensor> variables_;  // further inputs of the body
  std::vector<std::size_t> used_;  // of the inputs and variables: what the outputs need
  std::shared_ptr<const RegionBody> body_;
};

}  // namespace actorflow
