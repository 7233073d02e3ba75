// Reverse-mode differentiation, graph to graph.
#pragma once

#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// d loss / d x for each x of `with_respect_to`, as new nodes of the loss's graph under the name scope
// "gradients", each on the device and of the precision of the node that it is the gradient of. A gradient
// has the type of its x. It is an empty Output where the loss does not depend on x, or only through ops
// that have no gradient or through tensors that are not floating.
// Throws invalid_argument unless the loss is a scalar of a floating type.
// Source: reverse accumulation, Griewank and Walther, Evaluating Derivatives (2008), section 3.2.
std::vector<Output> gradients(Output loss, const std::vector<Output>& with_respect_to);

// Rows of a tensor that is zero elsewhere: values [n, ...] for its rows `indices` [n], int64. Rows of
// equal indices add up. (TensorFlow's IndexedSlices.)
struct IndexedSlices {
  Output values;
  Output indices;
};

// The row-sparse parts that a gradient is the sum of, where it is one, as that of gather() is; none
// where it is dense, or a sum of sparse and dense ones. Whoever uses these instead of the gradient
// itself never makes it dense: the nodes that would are then nobody's inputs, and no step runs them.
std::vector<IndexedSlices> indexed_slices(Output gradient);

}  // namespace actorflow
