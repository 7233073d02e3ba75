#include "actors/models/network/measured.h"

#include <fmt/format.h>

#include <functional>

#include "actors/layers/checks.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

// Losses and metrics are added up over batches and epochs: those of 16 bits as float32.
Output without_short(Output measured) {
  return is_short_floating(measured.dtype()) ? cast(measured, DType::float32) : measured;
}

// The mean over each example's own elements: [batch].
Output per_example(Output loss) {
  std::vector<std::int64_t> axes;
  for (int axis = 1; axis < loss.shape().rank(); ++axis) axes.push_back(axis);
  return axes.empty() ? loss : mean(loss, axes);
}

// A loss [n, steps, ...] without that of masked steps, so that its mean is over the others, as in Keras.
// Those are the steps of the batch that this pass has: a replica or a micro-batch counts its own.
Output without_masked(Output loss, Output mask, const LabelFeeds& feeds) {
  if (!mask || loss.shape().rank() < 2 || loss.shape()[1] != mask.shape()[1]) return loss;
  const Output steps = cast(mask, loss.dtype());
  const Output of_example =
      feeds.weights ? cast(reshape(feeds.weights, {-1, 1}), loss.dtype()) : scalar_like(loss, 1);
  const Output all = sum(ones_like(steps) * of_example), counted = sum(steps * of_example);
  Shape shape{Shape::unknown, mask.shape()[1]};
  while (shape.rank() < loss.shape().rank()) shape.push_back(1);
  return loss * reshape(steps * (all / maximum(counted, scalar_like(counted, 1))), shape);
}

// The mean over the examples, also over those of the batch's other parts.
Output mean_cost(Output costs, const LabelFeeds& feeds) {
  if (feeds.sample_weights) costs = costs * feeds.sample_weights;
  return feeds.weights ? sum(costs * feeds.weights) / feeds.share : mean(costs);
}

// Throws invalid_argument if a node from number `first` on broadcasts [batch, 1] against [batch]. It
// would pair each prediction with the labels of all examples, and the model would train on a wrong loss
// without an error.
void expect_no_pairs(const GraphDef& graph, NodeId first) {
  for (NodeId id = first; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.inputs.size() != 2 || node.outputs.size() != 1) continue;
    const TensorType &a = graph.type(node.inputs[0]), &b = graph.type(node.inputs[1]);
    const Shape column{Shape::unknown, 1}, row{Shape::unknown}, pairs{Shape::unknown, Shape::unknown};
    const bool meet = (a.shape == column && b.shape == row) || (a.shape == row && b.shape == column);
    if (meet && node.outputs[0].shape == pairs)
      throw invalid_argument(fmt::format(
          "node '{}' ({}): {} and {} give {}, each example of the batch with each other one; give both "
          "one shape, as by reshape(labels, {{-1, 1}}), or where pairs are meant one of them [1, batch]",
          node.name, node.op->name, a.to_string(), b.to_string(), node.outputs[0].to_string()));
  }
}

// What a function, which may be the user's own, makes of a prediction and its labels.
Output compared(const std::function<Output(Output, Output)>& function, Output prediction,
                Output labels) {
  const NodeId first = prediction.graph->def().size();
  const Output result = function(prediction, labels);
  expect_no_pairs(prediction.graph->def(), first);
  return result;
}

}  // namespace

std::vector<Output> masks_of(const ModelPass& pass, const std::vector<Output>& predicted) {
  if (pass.masks.empty()) return {};
  std::vector<Output> masks;
  for (const Output& prediction : predicted) masks.push_back(pass.mask(prediction));
  return masks;
}

Output loss_of(const CompileOptions& options, const std::vector<Output>& predicted,
               const LabelFeeds& feeds) {
  Output total;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const Loss& loss = options.loss.list()[i];
    Output cost = built_as("loss", loss.name, [&] {
      const Output costs = without_short(compared(loss.of, predicted[i], feeds.labels[i]));
      const Output mask = feeds.masks.empty() ? Output() : feeds.masks[i];
      return mean_cost(per_example(without_masked(costs, mask, feeds)), feeds);
    });
    if (!options.loss_weights.empty()) cost = cost * options.loss_weights[i];
    total = total ? total + cost : cost;
  }
  return total;
}

Output by_examples(Output loss, Output examples, Output share) {
  return loss * (cast(examples, DType::float32) / share);
}

std::vector<Output> metrics_of(const CompileOptions& options, const std::vector<Output>& predicted,
                               const LabelFeeds& feeds) {
  std::vector<Output> metrics;
  for (const Metric& metric : options.metrics) {
    const auto i = static_cast<std::size_t>(metric.output);
    metrics.push_back(built_as("metric", metric.name, [&] {
      return without_short(compared(metric.of_batch, predicted[i], feeds.labels[i]));
    }));
  }
  return metrics;
}

Output penalty_of(const ModelVariables::Entry& entry) {
  return built_as("regularizer of", entry.variable.name(),
                  [&] { return entry.regularizer(entry.variable); });
}

Output times_of(const Metric& metric, Output examples) {
  const bool is_sum = static_cast<bool>(metric.result);
  return is_sum ? minimum(examples, ones_like(examples)) : examples;
}

Output if_it_has_data(Output value, Output has_data) {
  return has_data ? select(has_data, value, scalar_like(value, 0)) : value;
}

std::vector<Output> fetches_of(const Measured& measured) {
  std::vector<Output> fetches{measured.loss};
  fetches.insert(fetches.end(), measured.metrics.begin(), measured.metrics.end());
  return fetches;
}

}  // namespace actorflow
