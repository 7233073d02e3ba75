#include "kernels/update/sparse_update.h"

#include <algorithm>
#include <string>

#include "dataflow/values/error.h"
#include "kernels/update/row_update.h"

namespace actorflow {
namespace detail {

std::int64_t row_elements(const Shape& shape) {
  std::int64_t elements = 1;
  for (int i = 1; i < shape.rank(); ++i) elements *= shape[i];
  return elements;
}

std::vector<Part> sorted_parts(std::span<const SparseGradient> gradients) {
  std::vector<Part> parts;
  for (std::size_t source = 0; source < gradients.size(); ++source)
    for (const auto& rows : gradients[source]) {
      const auto* values = static_cast<const std::byte*>(rows.values.data());
      const auto stride =
          row_elements(rows.values.shape()) * static_cast<std::int64_t>(size_of(rows.values.dtype()));
      for (const std::int64_t row : rows.indices.values<std::int64_t>()) {
        parts.push_back({row, std::ssize(parts), static_cast<std::int64_t>(source), values});
        values += stride;
      }
    }
  std::ranges::sort(parts, [](const Part& a, const Part& b) {
    return a.row != b.row ? a.row < b.row : a.order < b.order;
  });
  return parts;
}

}  // namespace detail

namespace {

[[noreturn]] void refuse(const std::string& expected, const std::string& actual) {
  throw invalid_argument("expected " + expected + ", got " + actual);
}

TensorType type_of(const Tensor& tensor) { return {tensor.dtype(), tensor.shape()}; }

void check_types(const TensorType& variable, const GradientRows& rows) {
  const Shape& shape = variable.shape;
  if (shape.rank() == 0) refuse("a variable with rows for a row-sparse gradient", variable.to_string());
  if (rows.indices.dtype() != DType::int64 || rows.indices.shape().rank() != 1)
    refuse("indices int64[n]", rows.indices.describe());
  Shape expected{rows.indices.elements()};
  for (int i = 1; i < shape.rank(); ++i) expected.push_back(shape[i]);
  if (type_of(rows.values) != TensorType{variable.dtype, expected})
    refuse("rows of a gradient as " + TensorType{variable.dtype, expected}.to_string(),
           rows.values.describe());
}

void check_indices(std::int64_t rows, const Tensor& on_host) {
  const auto indices = on_host.values<std::int64_t>();
  const auto bad =
      std::ranges::find_if(indices, [=](std::int64_t index) { return index < 0 || index >= rows; });
  if (bad != indices.end())
    refuse("indices from 0 to " + std::to_string(rows - 1),
           "the index " + std::to_string(*bad) + " at place " + std::to_string(bad - indices.begin()));
}

void check_without_waiting(const TensorType& variable, const SparseGradient& gradient) {
  for (const auto& rows : gradient) {
    check_types(variable, rows);
    if (rows.indices.on_host()) check_indices(variable.shape[0], rows.indices);
  }
}

}  // namespace

void check_sparse_gradient(const TensorType& variable, const SparseGradient& gradient, Device& device) {
  for (const auto& rows : gradient) {
    check_types(variable, rows);
    check_indices(variable.shape[0], device.to_host(rows.indices));
  }
}

void check_sparse_types(const TensorType& variable, const SparseGradient& gradient) {
  for (const auto& rows : gradient) check_types(variable, rows);
}

void apply_sparse_gradient(const BoundOptimizer& optimizer, VariableState& state,
                           const SparseGradient& gradient, Device& device, Team* team) {
  apply_sparse_mean(optimizer, state, {&gradient, 1}, device, team);
}

void apply_sparse_mean(const BoundOptimizer& optimizer, VariableState& state,
                       std::span<const SparseGradient> gradients, Device& device, Team* team) {
  check_state(optimizer, state);
  if (gradients.empty()) throw invalid_argument("the mean of no gradients was to be applied");
  for (const auto& gradient : gradients) check_sparse_gradient(type_of(state.value), gradient, device);
  optimizer.rule->apply_rows(optimizer.optimizer.hyperparameters(), state, gradients, device, team);
}

void apply_mean(const BoundOptimizer& optimizer, VariableState& state,
                std::span<const Gradient> gradients, Device& device, Team* team) {
  std::vector<Tensor> dense;
  std::vector<SparseGradient> sparse;
  for (const auto& gradient : gradients)
    if (gradient.is_dense())
      dense.push_back(gradient.dense);
    else
      sparse.push_back(gradient.rows);
  if (!dense.empty() && !sparse.empty())
    refuse("gradients of one kind", std::to_string(dense.size()) + " dense and " +
                                        std::to_string(sparse.size()) + " row-sparse ones");
  if (sparse.empty()) return apply_mean(optimizer, state, std::span<const Tensor>(dense), device, team);
  check_state(optimizer, state);
  for (const auto& gradient : sparse) check_without_waiting(type_of(state.value), gradient);
  optimizer.rule->apply_rows(optimizer.optimizer.hyperparameters(), state, sparse, device, team);
}

}  // namespace actorflow
