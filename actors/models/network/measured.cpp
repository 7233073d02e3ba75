#include "actors/models/network/measured.h"

#include "actors/layers/checks.h"
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

// The mean over the examples, also over those of the batch's other parts.
Output mean_cost(Output costs, const LabelFeeds& feeds) {
  if (feeds.sample_weights) costs = costs * feeds.sample_weights;
  return feeds.weights ? sum(costs * feeds.weights) / feeds.share : mean(costs);
}

}  // namespace

Output loss_of(const CompileOptions& options, const std::vector<Output>& predicted,
               const LabelFeeds& feeds) {
  Output total;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const Loss& loss = options.loss.list()[i];
    Output cost = built_as("loss", loss.name, [&] {
      return mean_cost(per_example(without_short(loss.of(predicted[i], feeds.labels[i]))), feeds);
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
      return without_short(metric.of_batch(predicted[i], feeds.labels[i]));
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
