#include "kernels/eager/gradient_clipping.h"

#include <cmath>
#include <string>

#include "dataflow/values/error.h"
#include "kernels/eager/eager_graph.h"
#include "kernels/eager/gradient_tape.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

double sum_of_squares(const Tensor& tensor, EagerContext& context) {
  GradientTape tape(context);
  return value(cast(sum(square(tape.constant(tensor))), DType::float64)).scalar<double>();
}

Tensor scaled(const Tensor& tensor, double scale, EagerContext& context) {
  GradientTape tape(context);
  return EagerGraph::of(tape.graph())->value((tape.constant(tensor) * scale).edge);
}

}  // namespace

double global_norm(const std::vector<Gradient>& gradients, EagerContext& context) {
  double squares = 0;
  for (const Gradient& gradient : gradients) {
    if (gradient.is_dense()) squares += sum_of_squares(gradient.dense, context);
    for (const GradientRows& rows : gradient.rows) squares += sum_of_squares(rows.values, context);
  }
  return std::sqrt(squares);
}

std::vector<Gradient> clip_by_global_norm(const std::vector<Gradient>& gradients, double max_norm,
                                          EagerContext& context) {
  if (!(max_norm > 0) || !std::isfinite(max_norm))
    throw invalid_argument("the largest norm must be above 0, got " + std::to_string(max_norm));
  const double norm = global_norm(gradients, context);
  if (norm <= max_norm) return gradients;
  const double scale = max_norm / norm;
  std::vector<Gradient> clipped = gradients;
  for (Gradient& gradient : clipped) {
    if (gradient.is_dense()) gradient.dense = scaled(gradient.dense, scale, context);
    for (GradientRows& rows : gradient.rows) rows.values = scaled(rows.values, scale, context);
  }
  return clipped;
}

}  // namespace actorflow
