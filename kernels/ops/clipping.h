// Gradient clipping: as Replication::transform, which clips the mean over replicas where that exists, or
// between compute_gradients() and apply_gradients(), where each replica clips its own.
#pragma once

#include <vector>

#include "dataflow/train/replicate.h"

namespace actorflow {

// float64 scalar: the root of the sum of the squares of all elements of all tensors, which are floating.
// Throws invalid_argument if there is no tensor.
Output global_norm(const std::vector<Output>& tensors);

// Every gradient times max_norm / max(global norm, max_norm), so that their global norm is at most
// max_norm (Pascanu, Mikolov and Bengio 2013, section 3.2). If one element is NaN, all become NaN.
// Throws invalid_argument if max_norm is not above 0.
std::vector<GradientAndVariable> clip_by_global_norm(std::vector<GradientAndVariable> gradients,
                                                     double max_norm);

// Every gradient by itself times max_norm / max(its norm, max_norm). Throws as clip_by_global_norm().
std::vector<GradientAndVariable> clip_by_norm(std::vector<GradientAndVariable> gradients,
                                              double max_norm);

// Every element of every gradient kept within [low, high]. Throws invalid_argument if low > high.
std::vector<GradientAndVariable> clip_by_value(std::vector<GradientAndVariable> gradients, double low,
                                               double high);

}  // namespace actorflow
