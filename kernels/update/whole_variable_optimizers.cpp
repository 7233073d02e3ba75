// Lamb and Muon, which need a variable's norms and products of matrices.
#include <algorithm>
#include <cmath>

#include "kernels/ops.h"
#include "kernels/update/graph_optimizer.h"

namespace actorflow {
namespace {

Output norm(Output x) { return sqrt(cast(sum(square(x)), DType::float64)); }

Output moved_towards(Output average, Output target, Output beta) {
  return average + (target - average) * cast(1 - beta, average.dtype());
}

struct LambUpdate : Lamb {
  static UpdatedState formula(const UpdateInputs& in) {
    const auto& h = in.hyperparameters;
    const DType dtype = in.value.dtype();
    const Output m = moved_towards(in.slots[0], in.gradient, h[1]);
    const Output v = moved_towards(in.slots[1], square(in.gradient), h[2]);
    const Output corrected_m = m / cast(1 - pow(h[1], in.step), dtype);
    const Output root = sqrt(v / cast(1 - pow(h[2], in.step), dtype));
    const Output update = corrected_m / (root + cast(h[3], dtype)) + in.value * cast(h[4], dtype);
    const Output value_norm = norm(in.value), update_norm = norm(update);
    const Output one = ones_like(value_norm);
    const Output quotient = value_norm / select(update_norm > 0, update_norm, one);
    const Output trust = select(logical_and(value_norm > 0, update_norm > 0), quotient, one);
    return {in.value - update * cast(h[0] * trust, dtype), {m, v}};
  }
};

// The quintic iteration of Newton and Schulz: singular values come near 1, between 0.7 and 1.2.
Output nearly_orthogonal(Output matrix) {
  constexpr double a = 3.4445, b = -4.7750, c = 2.0315, epsilon = 1e-7;
  const bool tall = matrix.shape()[0] > matrix.shape()[1];
  Output x = matrix / cast(norm(matrix) + epsilon, matrix.dtype());
  for (int i = 0; i < 5; ++i) {  // the smaller of the two products of x with itself
    const Output square = tall ? matmul(x, x, true, false) : matmul(x, x, false, true);
    const Output polynomial = square * b + matmul(square, square) * c;
    x = x * a + (tall ? matmul(x, polynomial) : matmul(polynomial, x));
  }
  return x;
}

struct MuonUpdate : Muon {
  static UpdatedState formula(const UpdateInputs& in) {
    const auto& h = in.hyperparameters;
    const Shape& shape = in.value.shape();
    if (shape.rank() != 2 && shape.rank() != 4)
      throw invalid_argument("muon updates matrices and filters only, but the variable is " +
                             in.value.type().to_string() + "; use muon_for_matrices()");
    const auto columns = shape[shape.rank() - 1];
    const auto rows = columns == 0 ? 0 : shape.elements() / columns;
    const Output momentum = moved_towards(in.slots[0], in.gradient, h[1]);
    const Output ahead = moved_towards(momentum, in.gradient, h[1]);
    const Output direction = reshape(nearly_orthogonal(reshape(ahead, {rows, columns})), shape);
    const double wide = rows > 0 ? static_cast<double>(columns) / static_cast<double>(rows) : 1;
    const Output step =
        direction * std::sqrt(std::max(1.0, wide)) + in.value * cast(h[2], in.value.dtype());
    return {in.value - step * cast(h[0], in.value.dtype()), {momentum}};
  }
};

}  // namespace

const OptimizerRule& lamb_optimizer() { return graph_optimizer<LambUpdate>(); }
const OptimizerRule& muon_optimizer() { return graph_optimizer<MuonUpdate>(); }

}  // namespace actorflow
