#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {

Output silu(Output x) { return x * sigmoid(x); }

Output leaky_relu(Output x, double slope) { return select(x > 0, x, x * slope); }

// Where x is positive, the other branch is kept from overflowing: its gradient would be NaN.
Output elu(Output x, double alpha) {
  return select(x > 0, x, (exp(minimum(x, scalar_like(x, 0))) - 1) * alpha);
}

// Klambauer et al., Self-Normalizing Neural Networks (2017), equation 2.
Output selu(Output x) {
  constexpr double alpha = 1.6732632423543772848170429916717, scale = 1.0507009873554804934193349852946;
  return elu(x, alpha) * scale;
}

}  // namespace actorflow
