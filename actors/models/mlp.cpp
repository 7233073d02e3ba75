#include "actors/models/mlp.h"

#include <cmath>
#include <string>

#include "kernels/ops.h"

namespace actorflow {
namespace {

// x w + b, with weights of the given standard deviation. Adds w and b to `variables`.
Output dense(Output x, std::int64_t inputs, std::int64_t outputs, double stddev, std::uint64_t seed,
             std::vector<Variable>& variables) {
  Graph& graph = *x.graph;
  const Variable weights =
      graph.variable("weights", truncated_normal(graph, {inputs, outputs}, 0, stddev, seed));
  const Variable biases =
      graph.variable("biases", graph.constant(Tensor::zeros(DType::float32, {outputs})));
  variables.insert(variables.end(), {weights, biases});
  return bias_add(matmul(x, weights), biases);
}

}  // namespace

Mlp make_mlp(Graph& graph, std::int64_t features, const std::vector<std::int64_t>& hidden,
             std::int64_t classes, std::uint64_t seed) {
  Mlp mlp;
  mlp.x = graph.placeholder(DType::float32, {Shape::unknown, features}, "x");
  mlp.labels = graph.placeholder(DType::int64, {Shape::unknown}, "labels");
  Output layer = mlp.x;
  std::int64_t inputs = features;
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    const double stddev = std::sqrt(2.0 / static_cast<double>(inputs));
    layer = graph.name_scope("hidden" + std::to_string(i + 1), [&] {
      return relu(dense(layer, inputs, hidden[i], stddev, seed + i, mlp.variables));
    });
    inputs = hidden[i];
  }
  mlp.logits = graph.name_scope("logits", [&] {
    const double stddev = std::sqrt(2.0 / static_cast<double>(inputs + classes));
    return dense(layer, inputs, classes, stddev, seed + hidden.size(), mlp.variables);
  });
  mlp.loss = mean(softmax_cross_entropy(mlp.logits, mlp.labels));
  mlp.accuracy = mean(cast(equal(argmax(mlp.logits, 1), mlp.labels), DType::float32));
  return mlp;
}

}  // namespace actorflow
