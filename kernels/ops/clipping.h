// Gradient clipping, between compute_gradients() and apply_gradients().
#pragma once

#include <vector>

#include "dataflow/train/replicate.h"

namespace actorflow {

// float64 scalar: the root of the sum of the squares of all elements of all tensors, which are floating.
// Throws invalid_argument if there is no tensor.
Output global_norm(const std::vector<Output>& tensors);

// Every gradient times max_norm / max(global norm, max_norm), so that their global norm is at most
// max_norm (Pascanu, Mikolov and Bengio 2013, section 3.2). If one element is NaN, all become NaN. A
// replica clips its own gradients, before they are averaged with others, so the norm of the mean is at
// most max_norm, too. Throws invalid_argument if max_norm is not above 0.
std::vector<GradientAndVariable> clip_by_global_norm(std::vector<GradientAndVariable> gradients,
                                                     double max_norm);

// Every element of every gradient kept within [low, high]. Throws invalid_argument if low > high.
std::vector<GradientAndVariable> clip_by_value(std::vector<GradientAndVariable> gradients, double low,
                                               double high);

}  // namespace actorflow
