// Clipping of a tape's gradients, as kernels/ops/clipping.h clips those of a graph.
#pragma once

#include <vector>

#include "kernels/eager/eager_context.h"
#include "kernels/update/optimizer_rule.h"

namespace actorflow {

// The root of the sum of the squares of all elements; of a row-sparse gradient the elements of its rows
// count as they are, also where rows of one index add up (as in TensorFlow). 0 if all are empty.
double global_norm(const std::vector<Gradient>& gradients,
                   EagerContext& context = EagerContext::standard());

// Every gradient times max_norm / max(global norm, max_norm). If one element is NaN, all become NaN.
// Throws invalid_argument if max_norm is not above 0.
std::vector<Gradient> clip_by_global_norm(const std::vector<Gradient>& gradients, double max_norm,
                                          EagerContext& context = EagerContext::standard());

}  // namespace actorflow
