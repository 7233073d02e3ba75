#include "kernels/ops/clipping.h"

#include <cmath>
#include <string>
#include <utility>

#include "dataflow/graph/core_ops.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

// On the device of the tensor, so that it need not be sent. The body refuses an empty one.
template <class Body>
Output beside(const Output& tensor, Body&& body) {
  if (!tensor.exists()) return std::forward<Body>(body)();
  const std::string device = tensor.node().device;  // a copy: the graph grows
  return tensor.graph->on(device, std::forward<Body>(body));
}

// max_norm / max(norm, max_norm), a float64 scalar. Throws invalid_argument if max_norm is not above 0.
Output scale_to(double max_norm, const std::vector<Output>& tensors) {
  if (!(max_norm > 0) || !std::isfinite(max_norm))
    throw invalid_argument("the largest norm must be above 0, got " + std::to_string(max_norm));
  const Output norm = global_norm(tensors);
  return max_norm / maximum(norm, scalar_like(norm, max_norm));
}

}  // namespace

Output global_norm(const std::vector<Output>& tensors) {
  if (tensors.empty()) throw invalid_argument("the global norm of no tensors was asked for");
  std::vector<Output> squares;
  for (const auto& tensor : tensors)
    squares.push_back(beside(tensor, [&] { return cast(sum(square(tensor)), DType::float64); }));
  return sqrt(add_node(add_n_op(), squares));
}

std::vector<GradientAndVariable> clip_by_global_norm(std::vector<GradientAndVariable> gradients,
                                                     double max_norm) {
  std::vector<Output> tensors;
  for (const auto& item : gradients) tensors.push_back(item.gradient);
  const Output scale = scale_to(max_norm, tensors);
  for (auto& item : gradients)
    item.gradient =
        beside(item.gradient, [&] { return item.gradient * cast(scale, item.gradient.dtype()); });
  return gradients;
}

std::vector<GradientAndVariable> clip_by_norm(std::vector<GradientAndVariable> gradients,
                                              double max_norm) {
  for (auto& item : gradients)
    item.gradient = beside(item.gradient, [&] {
      return item.gradient * cast(scale_to(max_norm, {item.gradient}), item.gradient.dtype());
    });
  return gradients;
}

std::vector<GradientAndVariable> clip_by_value(std::vector<GradientAndVariable> gradients, double low,
                                               double high) {
  for (auto& item : gradients) item.gradient = clip(item.gradient, low, high);
  return gradients;
}

}  // namespace actorflow
