#include "actors/models/model_graph.h"

#include <fmt/format.h>

#include "actors/layers/checks.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/ops/clipping.h"

namespace actorflow {
namespace {

std::string numbered(std::string_view name, std::size_t number) {
  return number == 0 ? std::string(name) : fmt::format("{}_{}", name, number);
}

void check_outputs(const CompileOptions& options, std::size_t outputs) {
  const auto check = [outputs](std::string_view what, std::size_t given) {
    if (given != outputs)
      throw invalid_argument(fmt::format("compile: the model has {} output{}, but there are {} {}",
                                         outputs, outputs == 1 ? "" : "s", given, what));
  };
  check("losses", options.loss.list().size());
  if (!options.loss_weights.empty()) check("loss weights", options.loss_weights.size());
  for (const Metric& metric : options.metrics)
    if (metric.output < 0 || static_cast<std::size_t>(metric.output) >= outputs)
      throw invalid_argument(
          fmt::format("compile: the metric '{}' is of output {}, but the model has {}", metric.name,
                      metric.output, outputs));
}

// The mean over each example's own elements: [batch].
Output per_example(Output loss) {
  std::vector<std::int64_t> axes;
  for (int axis = 1; axis < loss.shape().rank(); ++axis) axes.push_back(axis);
  return axes.empty() ? loss : mean(loss, axes);
}

}  // namespace

ModelGraph::ModelGraph(Graph& where, const Architecture& architecture, std::vector<TensorType> types,
                       const CompileOptions* options, std::optional<double> first_rate)
    : graph(where),
      global_step(actorflow::global_step(graph)),
      progress(graph.variable("fit_progress", graph.constant(Tensor::of<std::int64_t>({2}, {1, 0})))),
      input_types(std::move(types)),
      architecture_(architecture),
      seed_(options ? options->seed : CompileOptions{}.seed) {
  for (std::size_t i = 0; i < input_types.size(); ++i) {
    const TensorType batch = batched(input_types[i]);
    const std::string& name = architecture_.inputs[i].def().name;
    inputs.push_back(
        graph.placeholder(batch.dtype, batch.shape, name.empty() ? numbered("x", i) : name));
  }
  ModelPass pass{.graph = graph, .variables = variables, .seed = seed_};
  predictions = build(pass);
  layers = std::move(pass.layers);
  losses_ = std::move(pass.losses);
  if (!first_rate && options) first_rate = common_rate(*options);
  learning_rate = graph.variable("learning_rate", graph.constant(first_rate.value_or(0)));
}

// The learning rate of all trained variables, if they have the same.
std::optional<double> ModelGraph::common_rate(const CompileOptions& options) const {
  std::optional<double> common;
  for (const Variable& variable : variables.trained()) {
    const double own = options.optimizer.of(variable).hyperparameters()[0];
    if (common && *common != own) return std::nullopt;
    common = own;
  }
  return common;
}

std::vector<Output> ModelGraph::build(ModelPass& pass) { return architecture_.build(pass, inputs); }

void ModelGraph::add_testing(const CompileOptions& options, std::vector<TensorType> types) {
  check_outputs(options, predictions.size());
  label_types = std::move(types);
  for (std::size_t i = 0; i < label_types.size(); ++i) {
    const TensorType batch = batched(label_types[i]);
    labels.push_back(graph.placeholder(batch.dtype, batch.shape, numbered("labels", i)));
  }
  if (options.sample_weights)
    sample_weights = graph.placeholder(DType::float32, {Shape::unknown}, "sample_weights");
  test = graph.name_scope("test", [&] { return measure(options, losses_, predictions, false); });
}

void ModelGraph::add_training(const CompileOptions& options,
                              const std::optional<Replication>& together) {
  const Replication replication = together.value_or(Replication{});
  graph.name_scope("train", [&] {
    if (together) add_replica_feeds();
    graph.precision(options.precision, [&] {
      ModelPass pass{.graph = graph,
                     .variables = variables,
                     .seed = seed_ + static_cast<std::uint64_t>(replication.replica),
                     .training = true,
                     .step = global_step};
      const auto trained = build(pass);
      train = measure(options, pass.losses, trained, together.has_value());
      // Averages are of the first replica's batches: an update by each would depend on their order.
      if (replication.replica == 0) updates = pass.updates;
    });
    if (options.learning_rate)
      rate = options.learning_rate(global_step);
    else if (common_rate(options))
      rate = learning_rate;
    auto gradients = compute_gradients(train.loss, variables.trained());
    if (options.clip_global_norm > 0)
      gradients = clip_by_global_norm(std::move(gradients), options.clip_global_norm);
    train_op = apply_gradients(graph, gradients, global_step, options.optimizer, replication, rate);
    if (together) add_epoch_sums(options);
  });
}

// The mean over the examples of the batch, also of those that other replicas have.
Output ModelGraph::mean_cost(Output costs, bool together) const {
  if (sample_weights) costs = costs * sample_weights;
  return together ? sum(costs * replica.weights) / replica.share : mean(costs);
}

Measured ModelGraph::measure(const CompileOptions& options, const std::vector<Output>& losses,
                             const std::vector<Output>& predicted, bool together) {
  Measured measured;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const Loss& loss = options.loss.list()[i];
    Output cost = built_as("loss", loss.name, [&] {
      return mean_cost(per_example(loss.of(predicted[i], labels[i])), together);
    });
    if (!options.loss_weights.empty()) cost = cost * options.loss_weights[i];
    measured.loss = measured.loss ? measured.loss + cost : cost;
  }
  for (const Output& loss : losses) measured.loss = measured.loss + loss;
  for (const auto& entry : variables.entries)
    if (entry.regularizer) measured.loss = measured.loss + entry.regularizer(entry.variable);
  for (const Metric& metric : options.metrics) {
    const auto i = static_cast<std::size_t>(metric.output);
    measured.metrics.push_back(
        built_as("metric", metric.name, [&] { return metric.of_batch(predicted[i], labels[i]); }));
  }
  return measured;
}

void ModelGraph::add_replica_feeds() {
  replica.weights = graph.placeholder(DType::float32, {Shape::unknown}, "weights");
  replica.share = graph.placeholder(DType::float32, {}, "share");
  replica.examples = graph.placeholder(DType::float64, {}, "examples");
  replica.row = graph.placeholder(DType::float64, {2}, "row");
}

void ModelGraph::add_epoch_sums(const CompileOptions& options) {
  const auto as_row = [](Output x) { return reshape(cast(x, DType::float64), {-1}); };
  std::vector<Output> sums{as_row(replica.examples),
                           as_row(train.loss) * cast(replica.share, DType::float64)};
  for (std::size_t i = 0; i < train.metrics.size(); ++i) {
    // Sums of a batch count as they are, means by examples; nothing counts that is only padding.
    const Output one = ones_like(replica.examples);
    const Output times = options.metrics[i].result ? minimum(replica.examples, one) : replica.examples;
    sums.push_back(as_row(train.metrics[i]) * times);
  }
  const Output row = concat(sums, 0);
  const std::int64_t width = row.shape()[0];
  epoch_sums = graph.variable("epoch_sums", fill(graph, {2, width}, 0, DType::float64));
  updates.push_back(
      graph.assign_add(epoch_sums, reshape(replica.row, {2, 1}) * reshape(row, {1, width})));
}

std::vector<Output> ModelGraph::batch_feeds() const {
  std::vector<Output> feeds = inputs;
  feeds.insert(feeds.end(), labels.begin(), labels.end());
  if (sample_weights) feeds.push_back(sample_weights);
  return feeds;
}

std::vector<Variable> ModelGraph::saved_variables() const {
  std::vector<Variable> result = variables.all();
  result.insert(result.end(), {global_step, learning_rate, progress});
  return result;
}

}  // namespace actorflow
