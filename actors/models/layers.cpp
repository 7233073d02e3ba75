#include "actors/models/layers.h"

#include <cmath>

namespace actorflow {
namespace {

constexpr double epsilon = 1e-5;
constexpr double kept = 0.9;  // of a moving average in a step

std::int64_t channels_of(Output x) { return x.shape()[x.shape().rank() - 1]; }

Variable weights(LayerState& state, Graph& graph, const Shape& shape, std::int64_t inputs) {
  const double stddev = std::sqrt(2.0 / static_cast<double>(inputs));
  const Variable variable =
      graph.variable("weights", truncated_normal(graph, shape, 0, stddev, state.seed++));
  state.variables.push_back(variable);
  return variable;
}

Variable filled(Graph& graph, std::string_view name, std::int64_t channels, double value) {
  return graph.variable(name, fill(graph, {channels}, value));
}

Variable trained(LayerState& state, Graph& graph, std::string_view name, std::int64_t channels,
                 double value) {
  state.variables.push_back(filled(graph, name, channels, value));
  return state.variables.back();
}

// average = kept average + (1 - kept) value.
Output move_towards(Graph& graph, const Variable& average, Output value) {
  return graph.assign_add(average, (value - average.value()) * (1 - kept));
}

}  // namespace

Output conv_layer(LayerState& state, Output x, std::int64_t filters, const ConvOptions& options) {
  Graph& graph = *x.graph;
  return graph.name_scope("conv", [&] {
    const auto [height, width] = options.window;
    const std::int64_t in = channels_of(x);
    const Variable filter = weights(state, graph, {height, width, in, filters}, height * width * in);
    if (!options.bias) return conv2d(x, filter, options.strides, options.padding);
    const Variable biases = trained(state, graph, "biases", filters, 0);
    return fused_conv2d(x, filter, biases, false, options.strides, options.padding);
  });
}

Output dense_layer(LayerState& state, Output x, std::int64_t units) {
  Graph& graph = *x.graph;
  return graph.name_scope("dense", [&] {
    const std::int64_t features = channels_of(x);
    const Variable matrix = weights(state, graph, {features, units}, features);
    return bias_add(matmul(x, matrix), trained(state, graph, "biases", units, 0));
  });
}

Output batch_norm_layer(LayerState& state, Output x, bool relu, Output side) {
  Graph& graph = *x.graph;
  return graph.name_scope("batch_norm", [&] {
    const std::int64_t channels = channels_of(x);
    const Variable scale = trained(state, graph, "scale", channels, 1);
    const Variable offset = trained(state, graph, "offset", channels, 0);
    const Variable mean = filled(graph, "moving_mean", channels, 0);
    const Variable variance = filled(graph, "moving_variance", channels, 1);
    if (state.training) {
      const BatchNorm norm = batch_norm(x, scale, offset, epsilon, relu, side);
      state.updates.push_back(move_towards(graph, mean, norm.mean));
      state.updates.push_back(move_towards(graph, variance, norm.variance));
      return norm.y;
    }
    Output y = batch_norm_inference(x, scale, offset, mean, variance, epsilon);
    if (side) y = y + side;
    return relu ? actorflow::relu(y) : y;
  });
}

Output global_average_pool(Output x) { return mean(x, {1, 2}); }

Output flatten(Output x) {
  std::int64_t features = 1;
  for (int axis = 1; axis < x.shape().rank(); ++axis) features *= x.shape()[axis];
  return reshape(x, {-1, features});
}

}  // namespace actorflow
