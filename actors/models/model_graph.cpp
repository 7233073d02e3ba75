#include "actors/models/model_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "actors/input/rows.h"
#include "actors/layers/checks.h"
#include "actors/layers/network_builder.h"
#include "actors/models/network/clipping.h"
#include "actors/models/pipeline/moved_averages.h"
#include "dataflow/ops/collective_ops.h"
#include "dataflow/train/replicated_state.h"
#include "dataflow/values/check.h"
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
          fmt::format("compile: the metric '{}' is of output {}, but the model has {}", metric.name,
                      metric.output, outputs));
  for (auto metric = options.metrics.begin(); metric != options.metrics.end(); ++metric)
    if (std::any_of(options.metrics.begin(), metric, [&](const Metric& other) {
          return other.name == metric->name && other.output == metric->output;
        }))
      throw invalid_argument(fmt::format(
          "compile: two metrics of output {} are named '{}'; give one of them another Metric::name",
          metric->output, metric->name));
}

void expect_trained(const ModelVariables& variables) {
  if (!variables.trained().empty()) return;
  throw invalid_argument(variables.entries.empty()
                             ? "the model has no variables that training could change"
                             : "all layers of the model are frozen, so that training changes nothing; "
                               "let one of them learn "
                               "by get_layer(NAME).set_trainable(true)");
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
    const LabelFeeds feeds = add_label_feeds(options.sample_weights);
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

StepNodes ModelGraph::add_training(const CompileOptions& options,
                                   const std::optional<Replication>& together,
                                   const TrainingForm& form) {
  const auto& by_parts = form.micro_batches;
  ACTORFLOW_CHECK(!form.own_data || together, "data of a replica's own are a replica's");
  ACTORFLOW_CHECK(by_parts || stages_.size() == 1, "stages need micro-batches");
  expect_trained(variables);
  Replication replication = together.value_or(Replication{});
  replication.transform = clipping_of(options);
  StepNodes step;
  step.weights = sample_weights;
  graph.name_scope("train", [&] {
    if (form.weighted && !sample_weights)
      step.weights = graph.placeholder(DType::float32, {Shape::unknown}, "sample_weights");
    if (together) graph.on(stages_.back().device, [&] { add_replica_feeds(form); });
    if (!options.learning_rate && has_one_rate()) rate = learning_rate;
    const auto gradients = by_parts ? train_parts(step, options, replication.replica, *by_parts)
                                    : train_whole(step, options, replication.replica);
    if (is_all_reduce(replication.strategy)) exchange(step, options, replication);
    step.op = apply_gradients(graph, gradients, global_step, options.optimizer, replication,
                              reduced_rate_ ? reduced_rate_ : rate);
    if (together) graph.on(stages_.back().device, [&] { add_epoch_sums(step, options); });
    step.updates = with_step(step.op, step.updates);
  });
  return step;
}

// What each replica measures, and the learning rate where callbacks change that of the first replica, in
// one small all-reduce: it is on its way while gradients are computed.
void ModelGraph::exchange(StepNodes& step, const CompileOptions& options,
                          const Replication& replication) {
  const RankList ranks{std::get<AllReduce>(replication.strategy).tasks, GroupLife::continues};
  const bool shares_rate = rate && !options.learning_rate;
  graph.on(stages_.back().device, [&] {
    const Output row = measured_row(step.measured, options);
    const std::int64_t width = row.shape()[0];
    if (!shares_rate) {
      reduced_row_ = all_reduce(row, ranks, global_step.name() + "/measured");
      return;
    }
    const Output own = replication.replica == 0 ? reshape(cast(rate, DType::float64), {1})
                                                : fill(graph, {1}, 0, DType::float64);
    const Output all = all_reduce(concat({row, own}, 0), ranks, global_step.name() + "/measured");
    reduced_row_ = slice(all, {0}, {width});
    reduced_rate_ = reshape(slice(all, {width}, {1}), {});
    // Another replica may become the first one (elastic_task.h): it goes on with this rate.
    if (replication.replica != 0) step.updates.push_back(graph.assign(learning_rate, reduced_rate_));
  });
}

std::vector<GradientAndVariable> ModelGraph::train_whole(StepNodes& step, const CompileOptions& options,
                                                         int number) {
  graph.precision(options.precision, [&] {
    ModelPass pass{.graph = graph,
                   .variables = variables,
                   .seed = seed_ + static_cast<std::uint64_t>(number),
                   .training = true,
                   .step = global_step};
    const auto trained = build(pass);
    LabelFeeds feeds{labels, step.weights, replica.weights, replica.share};
    step.measured = measure(options, pass.losses, trained, feeds);
    // Averages are of the first replica's batches: an update by each would depend on their order.
    if (number == 0) keep_updates(step, pass);
  });
  return compute_gradients(if_it_has_data(step.measured.loss, replica.has_data), variables.trained());
}

// Without data the averages stay as they are.
void ModelGraph::keep_updates(StepNodes& step, const ModelPass& pass) {
  step.updates = pass.updates;
  if (!replica.has_data) return;
  ModelVariables moved = variables;
  for (Output& update : step.updates) {
    const MovedAverage average = move_average(moved, update, replica.has_data);
    moved.entries[average.entry].variable = average.after;
    update = average.update;
  }
}

std::vector<GradientAndVariable> ModelGraph::train_parts(StepNodes& step, const CompileOptions& options,
                                                         int number, const MicroBatchOptions& how) {
  step.share = replica.share ? replica.share : graph.on(stages_.back().device, [&] {
    return graph.placeholder(DType::float32, {}, "share");
  });
  for (int i = 0; i < how.count; ++i) step.micro_batches.push_back(add_micro_batch(step));
  const MicroBatches passes({.graph = graph,
                             .architecture = architecture_,
                             .stages = stages_,
                             .variables = variables,
                             .variables_until = variables_until_,
                             .options = options,
                             .seed = seed_ + static_cast<std::uint64_t>(number),
                             .step = global_step,
                             .keeps_averages = number == 0,
                             .has_data = replica.has_data},
                            how.schedule, step.micro_batches);
  step.measured = passes.measured();
  step.updates = passes.updates();
  return passes.gradients();
}

MicroBatchFeeds ModelGraph::add_micro_batch(const StepNodes& step) {
  MicroBatchFeeds feeds;
  graph.on(stages_.front().device, [&] {
    for (const TensorType& type : input_types)
      feeds.inputs.push_back(graph.placeholder(type.dtype, batched(type).shape, "x"));
  });
  graph.on(stages_.back().device, [&] {
    feeds.labels = add_label_feeds(static_cast<bool>(step.weights));
    feeds.labels.share = step.share;
    feeds.labels.weights = graph.placeholder(DType::float32, {Shape::unknown}, "weights");
    feeds.examples = graph.placeholder(DType::float64, {}, "examples");
  });
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

void ModelGraph::add_replica_feeds(const TrainingForm& form) {
  if (!form.micro_batches)
    replica.weights = graph.placeholder(DType::float32, {Shape::unknown}, "weights");
  replica.share = graph.placeholder(DType::float32, {}, "share");
  replica.examples = graph.placeholder(DType::float64, {}, "examples");
  replica.row = graph.placeholder(DType::float64, {2}, "row");
  if (form.own_data) replica.has_data = graph.placeholder(DType::boolean, {}, "has_data");
}

// float64 [k]: the replica's examples of the step, then its loss and each metric, by examples.
Output ModelGraph::measured_row(const Measured& measured, const CompileOptions& options) const {
  const auto as_row = [](Output x) { return reshape(cast(x, DType::float64), {-1}); };
  const Output losses =
      if_it_has_data(as_row(measured.loss) * cast(replica.share, DType::float64), replica.has_data);
  std::vector<Output> sums{as_row(replica.examples), losses};
  for (std::size_t i = 0; i < measured.metrics.size(); ++i)
    sums.push_back(if_it_has_data(
        as_row(measured.metrics[i]) * times_of(options.metrics[i], replica.examples), replica.has_data));
  return concat(sums, 0);
}

void ModelGraph::add_epoch_sums(StepNodes& step, const CompileOptions& options) {
  const Output row = reduced_row_ ? reduced_row_ : measured_row(step.measured, options);
  const std::int64_t width = row.shape()[0];
  epoch_sums = graph.variable("epoch_sums", fill(graph, {2, width}, 0, DType::float64));
  first_step = graph.variable("first_step", graph.constant(std::int64_t{0}));
  const Output of_epoch = reshape(replica.row, {2, 1}) > 0, measured = reshape(row, {1, width});
  const Output nothing = scalar_like(measured, 0);  // a product with 0 would keep what is no number
  // With all-reduce every replica has the sums, and forgets those of the epoch before, which the first
  // one has read when it makes a step of the next.
  step.updates.push_back(
      reduced_row_ ? graph.assign(epoch_sums, select(of_epoch, epoch_sums.value() + measured, nothing))
                   : graph.assign_add(epoch_sums, select(of_epoch, measured, nothing)));
}

std::vector<Output> ModelGraph::batch_feeds(const Output& weights) const {
  std::vector<Output> feeds = inputs;
  feeds.insert(feeds.end(), labels.begin(), labels.end());
  if (weights) feeds.push_back(weights);
  return feeds;
}

std::vector<Output> ModelGraph::micro_batch_feeds(const StepNodes& step) {
  std::vector<Output> feeds;
  for (const MicroBatchFeeds& each : step.micro_batches) {
    feeds.insert(feeds.end(), each.inputs.begin(), each.inputs.end());
    feeds.insert(feeds.end(), each.labels.labels.begin(), each.labels.labels.end());
    if (step.weights) feeds.push_back(each.labels.sample_weights);
    feeds.insert(feeds.end(), {each.labels.weights, each.examples});
  }
  feeds.push_back(step.share);
  return feeds;
}

Tuple ModelGraph::micro_batch_values(const StepNodes& step, std::vector<Tuple> parts, float share,
                                     const Tuple& example) const {
  // With weight 0 an example of this batch changes nothing beside it, not even what optimizers keep for
  // the rows of an embedding.
  const Tuple filler = parts.empty() ? example : batch_of_one(row_of(parts[0], 0));
  Tuple values;
  for (std::size_t i = 0; i < step.micro_batches.size(); ++i) {
    const bool has_examples = i < parts.size();
    Tuple part = has_examples ? std::move(parts[i]) : filler;
    const std::int64_t rows = rows_of(part);
    std::ranges::move(part, std::back_inserter(values));
    values.push_back(
        Tensor::of<float>({rows}, std::vector<float>(static_cast<std::size_t>(rows), has_examples)));
    values.push_back(Tensor::scalar(has_examples ? static_cast<double>(rows) : 0.0));
  }
  values.push_back(Tensor::scalar(share));
  return values;
}

std::vector<Variable> ModelGraph::saved_variables() const {
  std::vector<Variable> result = variables.all();
  result.insert(result.end(), {global_step, learning_rate, progress});
  return result;
}

}  // namespace actorflow
