// A step of training in a model's graph: alone or as a replica, with a batch as a whole or in parts.
#include <algorithm>
#include <iterator>

#include "actors/input/rows.h"
#include "actors/layers/checks.h"
#include "actors/models/model_graph.h"
#include "actors/models/network/clipping.h"
#include "actors/models/pipeline/moved_averages.h"
#include "dataflow/ops/collective_ops.h"
#include "dataflow/train/replicated_state.h"
#include "dataflow/values/check.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

void expect_trained(const ModelVariables& variables) {
  if (!variables.trained().empty()) return;
  throw invalid_argument(variables.entries.empty()
                             ? "the model has no variables that training could change"
                             : "all layers of the model are frozen, so that training changes nothing; "
                               "let one of them learn "
                               "by get_layer(NAME).set_trainable(true)");
}

}  // namespace

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
    const LabelFeeds feeds{labels, step.weights, replica.weights, replica.share,
                           masks_of(pass, trained)};
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

}  // namespace actorflow
