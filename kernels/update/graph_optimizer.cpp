#include "kernels/update/graph_optimizer.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "dataflow/graph/core_ops.h"
#include "dataflow/values/error.h"
#include "kernels/core/function_region.h"
#include "kernels/core/region.h"
#include "kernels/ops.h"
#include "kernels/update/dense_mean.h"

namespace actorflow {
namespace {

bool counts_steps(std::span<const std::string_view> slots) {
  return !slots.empty() && slots.back() == "step";
}

// A formula as kernels for one type of variables.
class Body {
 public:
  Body(const GraphOptimizer::Description& about, const TensorType& type, DeviceType device) {
    Graph graph;
    std::vector<Edge> given;
    const auto input = [&](const TensorType& of) {
      given.push_back(graph.placeholder(of.dtype, of.shape).edge);
      return Output{&graph, given.back()};
    };
    UpdateInputs in{input(type), input(type), {}, {}, {}};
    const auto slots = about.slots.size() - (counts_steps(about.slots) ? 1 : 0);
    for (std::size_t i = 0; i < slots; ++i) in.slots.push_back(input(type));
    for (std::size_t i = 0; i < about.hyperparameters; ++i)
      in.hyperparameters.push_back(input({DType::float64, {}}));
    in.step = input({DType::float64, {}});
    auto function = function_region(graph.def(), given, outputs(about, type, graph, in, slots));
    inputs_ = std::move(function.inputs);
    region_ = std::make_unique<RegionBody>(std::move(function.region), builtin_ops(), device);
  }

  // The inputs in the order of UpdateInputs.
  std::vector<Tensor> run(const std::vector<Tensor>& all, Device& device, Team* team) const {
    std::vector<Tensor> needed;
    for (const auto i : inputs_) needed.push_back(all[i]);
    return region_->run(needed, device, team);
  }

 private:
  static std::vector<Edge> outputs(const GraphOptimizer::Description& about, const TensorType& type,
                                   const Graph& graph, const UpdateInputs& in, std::size_t slots) {
    const UpdatedState after = about.formula(in);
    std::vector<Output> all{after.value};
    all.insert(all.end(), after.slots.begin(), after.slots.end());
    const std::string name(about.name);
    if (after.slots.size() != slots)
      throw invalid_argument("the formula of optimizer '" + name + "' returned " +
                             std::to_string(after.slots.size()) + " slots, expected " +
                             std::to_string(slots));
    std::vector<Edge> edges;
    for (const auto& output : all) {
      expect_in_graph(graph, output, "a result of the formula of optimizer '" + name + "'");
      if (output.type() != type)
        throw invalid_argument("the formula of optimizer '" + name + "' returned " +
                               output.type().to_string() + " for a variable of " + type.to_string());
      edges.push_back(output.edge);
    }
    return edges;
  }

  std::vector<std::size_t> inputs_;
  std::unique_ptr<RegionBody> region_;
};

Tensor scalar_on(Device& device, double value) { return device.to_device(Tensor::scalar(value)); }

// (g0 + g1 + ...) / count.
Tensor mean_of(std::span<const Tensor> gradients, Device& device, Team* team) {
  if (gradients.size() == 1) return gradients[0];
  Graph graph;
  std::vector<Output> parts;
  std::vector<Edge> edges;
  for (const auto& gradient : gradients) {
    parts.push_back(graph.placeholder(gradient.dtype(), gradient.shape()));
    edges.push_back(parts.back().edge);
  }
  const Output mean = graph.add(add_n_op(), parts) / std::ssize(parts);
  const auto function = function_region(graph.def(), edges, {mean.edge});
  const RegionBody body(function.region, builtin_ops(), device.type());
  return body.run(gradients, device, team)[0];
}

}  // namespace

struct GraphOptimizer::Bodies {
  using Key = std::tuple<DType, std::string, DeviceType>;

  // Compiled once for each type and device.
  const Body& of(const Description& about, const TensorType& type, DeviceType device) {
    const std::lock_guard lock(mutex);
    auto& body = all[{type.dtype, type.shape.to_string(), device}];
    if (!body) body = std::make_unique<Body>(about, type, device);
    return *body;
  }

  std::mutex mutex;
  std::map<Key, std::unique_ptr<Body>> all;
};

GraphOptimizer::GraphOptimizer(const Description& description)
    : about_(description), bodies_(std::make_unique<Bodies>()) {}
GraphOptimizer::~GraphOptimizer() = default;

void GraphOptimizer::check(Hyperparameters values) const {
  expect_hyperparameters(about_.name, about_.hyperparameters, values.size());
}

void GraphOptimizer::check_variable(const TensorType& type, const Device& device) const {
  bodies_->of(about_, type, device.type());
}

void GraphOptimizer::apply(Hyperparameters values, VariableState& state,
                           std::span<const Tensor> gradients, Device& device, Team* team) const {
  apply_dense(values, state, mean_of(gradients, device, team), device, team);
}

void GraphOptimizer::apply_rows(Hyperparameters values, VariableState& state,
                                std::span<const SparseGradient> gradients, Device& device,
                                Team* team) const {
  apply_dense(values, state, detail::dense_mean(state.value, gradients, device), device, team);
}

void GraphOptimizer::apply_dense(Hyperparameters values, VariableState& state, const Tensor& gradient,
                                 Device& device, Team* team) const {
  const bool counts = counts_steps(about_.slots);
  const std::int64_t step = counts ? state.slots.back().scalar<std::int64_t>() + 1 : 1;
  std::vector<Tensor> inputs{gradient, state.value};
  inputs.insert(inputs.end(), state.slots.begin(), state.slots.end() - (counts ? 1 : 0));
  for (const double value : values) inputs.push_back(scalar_on(device, value));
  inputs.push_back(scalar_on(device, static_cast<double>(step)));
  const TensorType type{state.value.dtype(), state.value.shape()};
  auto after = bodies_->of(about_, type, device.type()).run(inputs, device, team);
  if (counts) after.push_back(Tensor::scalar(step));
  state.value = std::move(after[0]);
  std::move(after.begin() + 1, after.end(), state.slots.begin());
}

}  // namespace actorflow
