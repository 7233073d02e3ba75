// Penalties on weights, which become part of the loss.
#pragma once

#include <functional>

#include "dataflow/graph/graph.h"

namespace actorflow {

// float32 scalar: what the weights cost.
using Regularizer = std::function<Output(Output weights)>;

Regularizer l1(double factor);  // factor * sum |w|
Regularizer l2(double factor);  // factor * sum w^2
Regularizer l1_l2(double l1_factor, double l2_factor);

}  // namespace actorflow
