#include "actors/eager/all_reduce.h"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

#include "dataflow/values/error.h"
#include "kernels/devices/on_device.h"
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

// What a gradient is: 0 none, 1 dense, 2 rows.
std::size_t kind_of(const Gradient& gradient) {
  if (gradient.is_dense()) return 1;
  return gradient.empty() ? 0 : 2;
}

// A rank would wait for ever for what another one does not send. The sum of what each rank has, which
// ranks that have joined do not disturb.
void expect_same_kinds(const Communicator& world, const std::vector<Gradient>& gradients,
                       const std::string& name) {
  constexpr const char* names[] = {"none", "dense", "row-sparse"};
  constexpr std::size_t kinds = std::size(names);
  Tensor own = Tensor::zeros(DType::int64, {std::ssize(gradients), kinds});
  for (std::size_t i = 0; i < gradients.size(); ++i)
    own.mutable_values<std::int64_t>()[i * kinds + kind_of(gradients[i])] = 1;
  const Tensor all = world.all_reduce(own, {.name = name + "/kinds"});
  const auto ranks = all.values<std::int64_t>();
  for (std::size_t i = 0; i < gradients.size(); ++i)
    for (std::size_t kind = 0; kind < kinds; ++kind)
      if (kind != kind_of(gradients[i]) && ranks[i * kinds + kind] > 0)
        throw invalid_argument(fmt::format(
            "all_reduce_gradients(): gradient {} is {} on rank {}, but {} on {} of {} ranks; each rank "
            "passes those of the same variables, computed in the same way",
            i, names[kind_of(gradients[i])], world.rank(), names[kind], ranks[i * kinds + kind],
            world.size()));
}

Tensor joined(const SparseGradient& rows, Tensor GradientRows::*part) {
  if (rows.size() == 1) return on_device(rows[0].*part, cpu_device());
  GradientTape tape;
  std::vector<Output> parts;
  for (const GradientRows& each : rows) parts.push_back(tape.constant(each.*part));
  return value(concat(parts, 0));
}

// The rows of all ranks, in the order of ranks; a rank may have looked up more often than another.
SparseGradient gather_rows(const Communicator& world, const SparseGradient& rows, double factor,
                           const std::string& name) {
  const Tensor values =
      world.all_gather(joined(rows, &GradientRows::values), {.name = name + "/values"});
  const Tensor indices =
      world.all_gather(joined(rows, &GradientRows::indices), {.name = name + "/indices"});
  return {{scaled(values, factor), indices}};
}

}  // namespace

std::vector<Gradient> all_reduce_gradients(const Communicator& world,
                                           const std::vector<Gradient>& gradients,
                                           const ReduceOptions& options) {
  if (options.reduction != ReduceOp::sum && options.reduction != ReduceOp::average)
    throw invalid_argument("all_reduce_gradients(): expected ReduceOp::sum or ReduceOp::average");
  expect_same_kinds(world, gradients, options.name);
  std::vector<Gradient> reduced(gradients.size());
  std::vector<Tensor> dense;
  for (const Gradient& gradient : gradients)
    if (gradient.is_dense()) dense.push_back(on_device(gradient.dense, cpu_device()));
  if (!dense.empty()) dense = world.grouped_all_reduce(dense, options);
  auto next = dense.begin();
  const double factor = factor_of(world, options);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].is_dense())
      reduced[i].dense = std::move(*next++);
    else if (!gradients[i].empty())
      reduced[i].rows =
          gather_rows(world, gradients[i].rows, factor, fmt::format("{}/{}", options.name, i));
  return reduced;
}

void broadcast_variables(const Communicator& world, const std::vector<EagerVariable>& variables,
                         int root) {
  for (const EagerVariable& variable : variables)
    variable.assign(
        world.broadcast(on_device(variable.read(), cpu_device()), root, {.name = variable.name()}));
}

}  // namespace actorflow
