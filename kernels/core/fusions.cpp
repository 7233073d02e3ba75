#include "kernels/core/fusions.h"

#include <array>

#include "kernels/core/kernel.h"

namespace actorflow {
namespace {

// The mean of all losses; nothing if there is none or another reduction.
std::optional<NodeId> mean_of(const FusionContext& graph, Edge losses) {
  const auto mean = graph.consumer(losses, "Mean");
  const bool of_all = mean && graph.node(*mean).outputs[0].shape == Shape();
  return of_all ? mean : std::nullopt;
}

}  // namespace

// The gradient of a mean of cross entropies: backprop * ExpandDims(SpreadLike(g, losses)).
std::optional<Fused> fuse_mean_cross_entropy(const FusionContext& graph, NodeId last) {
  if (graph.node(last).op->name != "Mul") return std::nullopt;
  const auto loss = graph.producer(last, 0, "SparseSoftmaxCrossEntropy");
  const auto column = graph.producer(last, 1, "ExpandDims");
  const auto spread = column ? graph.producer(*column, 0, "SpreadLike") : std::nullopt;
  if (!loss || !spread || graph.node(last).inputs[0] != Edge{*loss, 1} ||
      graph.node(*spread).inputs[1] != Edge{*loss, 0})
    return std::nullopt;
  const Edge g = graph.node(*spread).inputs[0];
  if (graph.graph().type(g).shape != Shape()) return std::nullopt;
  const Node& forward = graph.node(*loss);
  const auto mean = mean_of(graph, {*loss, 0});
  Fused fused{.replaced = {*loss, *spread, *column, last},
              .op = &builtin_ops().def("MeanSparseSoftmaxCrossEntropy"),
              .inputs = {forward.inputs[0], forward.inputs[1], g},
              .outputs = {mean ? Edge{*mean, 0} : Edge(), {last, 0}}};
  if (mean) fused.replaced.push_back(*mean);
  return fused;
}

std::span<const FusionRule> builtin_fusions() {
  static constexpr std::array<FusionRule, 3> rules{fuse_matmul, fuse_relu_bias_grad,
                                                   fuse_mean_cross_entropy};
  return rules;
}

}  // namespace actorflow
