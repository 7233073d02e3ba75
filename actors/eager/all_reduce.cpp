#include "actors/eager/all_reduce.h"

#include <fmt/format.h>

#include <algorithm>
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

// What a gradient is, as ranks tell each other.
enum class Kind : std::int64_t { none, dense, rows };
constexpr const char* kind_names[] = {"none", "dense", "row-sparse"};

Kind kind_of(const Gradient& gradient) {
  if (gradient.is_dense()) return Kind::dense;
  return gradient.empty() ? Kind::none : Kind::rows;
}

// A rank would wait for ever for what another one does not send.
void expect_same_kinds(const Communicator& world, const std::vector<Gradient>& gradients,
                       const std::string& name) {
  Tensor own = Tensor::allocate(DType::int64, {1, std::ssize(gradients)});
  std::ranges::transform(
      gradients, own.mutable_values<std::int64_t>().begin(),
      [](const Gradient& gradient) { return static_cast<std::int64_t>(kind_of(gradient)); });
  const Tensor all = world.all_gather(own, {.name = name + "/kinds"});
  const auto kinds = all.values<std::int64_t>();
  const auto count = gradients.size();
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (kinds[i] != kinds[i % count])
      throw invalid_argument(
          fmt::format("all_reduce_gradients(): gradient {} is {} on rank 0, but {} on rank {}; each "
                      "rank passes those of "
                      "the same variables, computed in the same way",
                      i % count, kind_names[kinds[i % count]], kind_names[kinds[i]], i / count));
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
