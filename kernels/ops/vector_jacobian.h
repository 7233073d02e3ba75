// Gradients of several tensors at once. For the gradients of control flow.
#pragma once

#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// The sum over all results of `arriving` (the gradient of a result; empty: none) times d result / d
// target, for each target; empty where there is none.
std::vector<Output> vector_jacobian_product(const std::vector<Output>& results,
                                            const std::vector<Output>& arriving,
                                            const std::vector<Output>& targets);

}  // namespace actorflow
