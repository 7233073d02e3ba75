#include "actors/eager/all_reduce.h"

#include <fmt/format.h>

#include <utility>

#include "dataflow/values/error.h"
#include "kernels/eager/gradient_tape.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

Tensor scaled(const Tensor& values, double factor) {
  if (factor == 1) return values;
  GradientTape tape;
  return value(tape.constant(values) * factor);
}

double factor_of(const Communicator& world, const ReduceOptions& options) {
  const double all = options.prescale * options.postscale;
  return options.reduction == ReduceOp::average ? all / world.size() : all;
}

// The rows of all ranks, in the order of ranks.
SparseGradient gather_rows(const Communicator& world, const SparseGradient& rows, double factor,
                           const std::string& name) {
  SparseGradient gathered;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto gather = [&](const Tensor& part, const char* what) {
      return world.all_gather(part, {.name = fmt::format("{}/{}/{}", name, i, what)});
    };
    const Tensor values = gather(rows[i].values, "values");
    gathered.push_back({scaled(values, factor), gather(rows[i].indices, "indices")});
  }
  return gathered;
}

}  // namespace

std::vector<Gradient> all_reduce_gradients(const Communicator& world,
                                           const std::vector<Gradient>& gradients,
                                           const ReduceOptions& options) {
  if (options.reduction != ReduceOp::sum && options.reduction != ReduceOp::average)
    throw invalid_argument("all_reduce_gradients(): expected ReduceOp::sum or ReduceOp::average");
  std::vector<Gradient> reduced(gradients.size());
  std::vector<Tensor> dense;
  for (const Gradient& gradient : gradients)
    if (gradient.is_dense()) dense.push_back(gradient.dense);
  if (!dense.empty()) dense = world.grouped_all_reduce(dense, options);
  auto next = dense.begin();
  const double factor = factor_of(world, options);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].is_dense())
      reduced[i].dense = std::move(*next++);
    else
      reduced[i].rows =
          gather_rows(world, gradients[i].rows, factor, fmt::format("{}/{}", options.name, i));
  return reduced;
}

void broadcast_variables(const Communicator& world, const std::vector<EagerVariable>& variables,
                         int root) {
  for (const EagerVariable& variable : variables)
    variable.assign(world.broadcast(variable.read(), root, {.name = variable.name()}));
}

}  // namespace actorflow
