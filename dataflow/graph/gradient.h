// Reverse-mode differentiation, graph to graph.
#pragma once

#include <concepts>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// The gradients d loss / d x for each x of `with_respect_to`, as new nodes of the loss's graph under the
// name scope "gradients". Each node has the device and the precision of the forward node that it belongs
// to, and a gradient has the type of its x. It is an empty Output where the loss does not depend on x,
// or depends on it only through ops without gradient or through tensors that are not floating. Throws
// invalid_argument unless the loss is a scalar of a floating type. Source: reverse accumulation,
// Griewank and Walther, Evaluating Derivatives (2008), section 3.2.
std::vector<Output> gradients(Output loss, const std::vector<Output>& with_respect_to);

// The same by variables: gradients(loss, graph.variables()).
std::vector<Output> gradients(Output loss, const std::same_as<std::vector<Variable>> auto& variables) {
  return gradients(loss, std::vector<Output>(variables.begin(), variables.end()));
}

// One section of a longer chain: given the gradients of a loss for `outputs`, its gradients for
// `with_respect_to`. They flow back through the nodes between both and stop at the tensors of
// `with_respect_to`: none flows through one of these to another. An output may be listed several times:
// its gradients add up, in their order and before those that come from other outputs. Throws
// invalid_argument unless each gradient has the type of its output.
std::vector<Output> gradients(const std::vector<Output>& outputs,
                              const std::vector<Output>& gradients_of_outputs,
                              const std::vector<Output>& with_respect_to);

// For the gradient function of an op that other ops could compute, too: the gradients for its inputs by
// those of the others. `composed` has an Output for each of the node's, computed from its inputs.
std::vector<Output> gradients_of_composition(GradientContext& c, const std::vector<Output>& composed);

// For an op whose gradient is not 0, but not there either: throws unimplemented, naming the node. Other
// ops without a gradient function, unless their names end with "Grad", stop what flows back.
std::vector<Output> no_gradient_yet(GradientContext& c);

// A tensor that is zero except in some rows: values [n, ...] for the rows `indices` [n], int64. Rows of
// equal indices add up. (TensorFlow's IndexedSlices.)
struct IndexedSlices {
  Output values;
  Output indices;
};

// The row-sparse parts of a gradient that is their sum, such as that of gather(); none if it is dense,
// or a sum of sparse and dense parts. A program that uses the parts instead of the gradient never makes
// it dense: no step runs the nodes that would.
std::vector<IndexedSlices> indexed_slices(Output gradient);

}  // namespace actorflow
