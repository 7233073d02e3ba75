// The gradients of softmax and log_softmax. Internal to kernels/rows.
#pragma once

#include "dataflow/graph/graph.h"

namespace actorflow {

// With y an output of softmax, and g its gradient: that of softmax's input, (g - sum(g y)) y, where the
// sum is over the last axis.
Output softmax_gradient(Output y, Output g);
// The same for log_softmax: g - exp(y) sum(g).
Output log_softmax_gradient(Output y, Output g);

}  // namespace actorflow
