#include "actors/models/model_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/layers/checks.h"
#include "actors/layers/network_builder.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

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
          fmt::format("compile: the metric '{}' is of output {}, but the model has the outputs 0 to {}",
                      metric.name, metric.output, outputs - 1));
  for (auto metric = options.metrics.begin(); metric != options.metrics.end(); ++metric)
    if (std::any_of(options.metrics.begin(), metric, [&](const Metric& other) {
          return other.name == metric->name && other.output == metric->output;
        }))
      throw invalid_argument(fmt::format(
          "compile: two metrics of output {} are named '{}'; give one of them another Metric::name",
          metric->output, metric->name));
}

double own_rate(const OptimizerChoice& optimizer, const Variable& variable) {
  return optimizer.of(variable).hyperparameters()[0];
}

// Two variables whose optimizers have different learning rates, with these; "" if there are none.
std::string differing_rates(const OptimizerChoice& optimizer, const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) {
    const double first = own_rate(optimizer, variables[0]), other = own_rate(optimizer, variable);
    if (other != first)
      return fmt::format("'{}' has {}, '{}' has {}", variables[0].name(), first, variable.name(), other);
  }
  return "";
}

}  // namespace

Tuple batch_of_one(Tuple example) {
  for (Tensor& tensor : example)
    tensor = tensor.reshaped(batched({tensor.dtype(), tensor.shape()}, 1).shape);
  return example;
}

ModelGraph::ModelGraph(Graph& where, const Architecture& architecture, std::vector<TensorType> types,
                       const CompileOptions* options, std::optional<double> first_rate,
                       std::vector<ModelStage> stages)
    : graph(where),
      global_step(actorflow::global_step(graph)),
      progress(graph.variable("fit_progress", graph.constant(Tensor::of<std::int64_t>({2}, {1, 0})))),
      input_types(std::move(types)),
      architecture_(architecture),
      stages_(stages.empty() ? whole(architecture, options ? options->device : "") : std::move(stages)),
      seed_(options ? options->seed : CompileOptions{}.seed) {
  add_predictions();
  const auto trained = variables.trained();
  if (options) differing_rates_ = differing_rates(options->optimizer, trained);
  if (first_rate) expect_one_rate();
  if (options && has_one_rate() && !trained.empty())
    optimizer_rate = own_rate(options->optimizer, trained[0]);
  learning_rate = graph.variable("learning_rate", graph.constant(first_rate.value_or(optimizer_rate)));
  if (options && options->learning_rate)
    // Wherever the model computes: shards want the rate on the host, and each would wait for a GPU's.
    rate = graph.on("/cpu:0", [&] {
      return built_as("schedule", "learning_rate", [&] { return options->learning_rate(global_step); });
    });
}

void ModelGraph::add_predictions() {
  graph.on(stages_.front().device, [&] {
    for (std::size_t i = 0; i < input_types.size(); ++i) {
      const TensorType batch = batched(input_types[i]);
      const std::string& name = architecture_.inputs[i].def().name;
      inputs.push_back(
          graph.placeholder(batch.dtype, batch.shape, name.empty() ? numbered("x", i) : name));
    }
  });
  ModelPass pass{.graph = graph, .variables = variables, .seed = seed_};
  predictions = build(pass);
  layers = std::move(pass.layers);
  losses_ = std::move(pass.losses);
  masks_ = masks_of(pass, predictions);
}

void ModelGraph::expect_one_rate() const {
  if (!has_one_rate())
    throw Error(
        Code::failed_precondition,
        fmt::format("the variables of the model have optimizers of different learning rates, so "
                    "that there is none to read or set: {}; give all the same, or give compile() "
                    "a schedule, which replaces them",
                    differing_rates_));
}

std::vector<Output> ModelGraph::build(ModelPass& pass) {
  NetworkBuilder network(pass, architecture_, inputs);
  variables_until_.clear();
  for (const ModelStage& stage : stages_) {
    graph.on(stage.device, [&] {
      for (const SymbolicTensor& result : stage.results) network.build(result);
    });
    variables_until_.push_back(variables.entries.size());
  }
  std::vector<Output> results;
  for (const SymbolicTensor& output : architecture_.outputs) results.push_back(network.build(output));
  return results;
}

void ModelGraph::add_testing(const CompileOptions& options, std::vector<TensorType> types) {
  check_outputs(options, predictions.size());
  label_types = std::move(types);
  graph.on(stages_.back().device, [&] {
    LabelFeeds feeds = add_label_feeds(options.sample_weights);
    feeds.masks = masks_;
    test = graph.name_scope("test", [&] { return measure(options, losses_, predictions, feeds); });
    labels = feeds.labels;  // from here on it can be tested
    sample_weights = feeds.sample_weights;
  });
}

LabelFeeds ModelGraph::add_label_feeds(bool weighted) {
  LabelFeeds feeds;
  for (std::size_t i = 0; i < label_types.size(); ++i) {
    const TensorType batch = batched(label_types[i]);
    feeds.labels.push_back(graph.placeholder(batch.dtype, batch.shape, numbered("labels", i)));
  }
  if (weighted)
    feeds.sample_weights = graph.placeholder(DType::float32, {Shape::unknown}, "sample_weights");
  return feeds;
}

Measured ModelGraph::measure(const CompileOptions& options, const std::vector<Output>& losses,
                             const std::vector<Output>& predicted, const LabelFeeds& feeds) {
  Measured measured;
  measured.loss = loss_of(options, predicted, feeds);
  for (const Output& loss : losses)
    measured.loss =
        measured.loss + (feeds.share ? by_examples(loss, replica.examples, feeds.share) : loss);
  for (std::size_t i = 0; i < variables.entries.size(); ++i) {
    const auto& entry = variables.entries[i];
    if (!entry.regularizer) continue;
    const auto stage = std::ranges::upper_bound(variables_until_, i) - variables_until_.begin();
    const Output penalty =
        graph.on(stages_[static_cast<std::size_t>(stage)].device, [&] { return penalty_of(entry); });
    measured.loss = measured.loss + penalty;
  }
  measured.metrics = metrics_of(options, predicted, feeds);
  return measured;
}

std::vector<Output> ModelGraph::batch_feeds(const Output& weights) const {
  std::vector<Output> feeds = inputs;
  feeds.insert(feeds.end(), labels.begin(), labels.end());
  if (weights) feeds.push_back(weights);
  return feeds;
}

std::vector<Variable> ModelGraph::saved_variables() const {
  std::vector<Variable> result = variables.all();
  result.insert(result.end(), {global_step, learning_rate, progress});
  return result;
}

}  // namespace actorflow
