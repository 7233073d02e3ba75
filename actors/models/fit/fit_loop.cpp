#include "actors/models/fit/fit_loop.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "actors/input/rows.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

void check_options(const FitOptions& options, const TrainingData& data) {
  if (options.epochs < 0 || options.initial_epoch < 0 || options.steps_per_epoch < 0)
    throw invalid_argument(
        fmt::format("fit: epochs, initial_epoch and steps_per_epoch are 0 or more, got {}, {} and {}",
                    options.epochs, options.initial_epoch, options.steps_per_epoch));
  const double split = options.validation_split;
  if (!(split >= 0 && split < 1))
    throw invalid_argument(
        fmt::format("fit: expected a validation_split from 0 on and below 1, got {}", split));
  if (split > 0 && options.validation_data)
    throw invalid_argument("fit: give validation_data or a validation_split, not both");
  if (split > 0 && !data.size())
    throw invalid_argument(
        "fit: a validation_split needs tensors, whose number of examples is known; give "
        "validation_data");
}

// A tensor of float32 or float64, as float64.
double number(const Tensor& value, std::size_t i) {
  return value.dtype() == DType::float64 ? value.values<double>()[i]
                                         : static_cast<double>(value.values<float>()[i]);
}

// Metrics of one name, of several outputs, get the output's number.
std::string log_name(const std::vector<Metric>& metrics, std::size_t i) {
  for (std::size_t j = 0; j < metrics.size(); ++j)
    if (j != i && metrics[j].name == metrics[i].name)
      return fmt::format("{}_{}", metrics[i].name, metrics[i].output);
  return metrics[i].name;
}

std::int64_t examples_for_training(const TrainingData& data, const FitOptions& options) {
  if (options.validation_split == 0) return -1;
  const auto apart = static_cast<std::int64_t>(
      std::floor(static_cast<double>(*data.size()) * options.validation_split));
  if (apart == 0 || apart == *data.size())
    throw invalid_argument(
        fmt::format("fit: a validation_split of {} of {} examples leaves none on one side",
                    options.validation_split, *data.size()));
  return *data.size() - apart;
}

Logs test(ModelEngine& model, Batches& batches) {
  Totals totals(model.compiled().metrics);
  batches.begin_epoch(1, 0);
  while (auto batch = batches.next()) {
    const std::int64_t examples = rows_of(*batch);
    totals.add(model.session().test(std::move(*batch)), examples);
  }
  Logs logs;
  totals.write_to(logs);
  return logs;
}

}  // namespace

void Totals::add(std::span<const Tensor> values, std::int64_t examples) {
  examples_ += examples;
  loss_ += number(values[0], 0) * static_cast<double>(examples);
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const Tensor& value = values[i + 1];
    sums_[i].resize(static_cast<std::size_t>(value.elements()));
    const double times = metrics_[i].result ? 1 : static_cast<double>(examples);
    for (std::size_t k = 0; k < sums_[i].size(); ++k) sums_[i][k] += number(value, k) * times;
  }
}

void Totals::write_to(Logs& logs) const {
  if (examples_ == 0) return;
  const auto count = static_cast<double>(examples_);
  logs.set("loss", loss_ / count);
  for (std::size_t i = 0; i < metrics_.size(); ++i)
    logs.set(log_name(metrics_, i),
             metrics_[i].result ? metrics_[i].result(sums_[i]) : sums_[i].at(0) / count);
}

Logs evaluate(ModelEngine& model, const TrainingData& data, std::int64_t batch_size) {
  if (data.size()) batch_size = std::min(check_batch_size(batch_size), *data.size());
  Batches batches(model.local->server, data, {.batch_size = batch_size});
  return test(model, batches);
}

FitLoop::FitLoop(Model& model, ModelEngine& engine, const TrainingData& data, const FitOptions& options)
    : model_(model), engine_(engine), options_(options) {
  check_options(options, data);
  engine_.build_training(types_of_example(data.elements()));
  const std::int64_t training = examples_for_training(data, options);
  batches_.emplace(engine_.local->server, data,
                   BatchesOptions{.batch_size = options.batch_size,
                                  .shuffle = options.shuffle,
                                  .seed = engine_.compiled().seed,
                                  .steps_per_epoch = options.steps_per_epoch,
                                  .count = training});
  if (training >= 0) {
    validation_batches_.emplace(
        engine_.local->server, data,
        BatchesOptions{.batch_size = std::min(options.batch_size, *data.size() - training),
                       .first = training});
  } else if (const auto& validation = options.validation_data) {
    engine_.build_training(types_of_example(validation->elements()));
    const auto size = validation->size().value_or(options.batch_size);
    validation_batches_.emplace(engine_.local->server, *validation,
                                BatchesOptions{.batch_size = std::min(options.batch_size, size)});
  }
  for (const auto& callback : options.callbacks) looks_at_batches_ |= callback->looks_at_batches();
}

History FitLoop::run() {
  History history;
  Training training(model_, {.epoch = options_.initial_epoch + 1}, options_.epochs);
  for (const auto& callback : options_.callbacks) callback->on_train_begin(training);
  FitProgress& progress = engine_.progress = training.first();
  while (progress.epoch <= options_.epochs && !training.stopped()) {
    const int epoch = progress.epoch;
    for (const auto& callback : options_.callbacks) callback->on_epoch_begin(training, epoch);
    Logs logs = run_epoch(training);
    progress = {.epoch = epoch + 1};
    for (const auto& callback : options_.callbacks) callback->on_epoch_end(training, epoch, logs);
    history.epochs.push_back(epoch);
    history.logs.push_back(std::move(logs));
  }
  for (const auto& callback : options_.callbacks) callback->on_train_end(training);
  return history;
}

Logs FitLoop::run_epoch(Training& training) {
  FitProgress& progress = engine_.progress;
  batches_->begin_epoch(progress.epoch, progress.batches);
  ProgressLine line(options_.verbosity == Verbosity::silent, progress.epoch, options_.epochs,
                    batches_->steps());
  Totals totals(engine_.compiled().metrics);
  while (!training.stopped()) {
    auto batch = batches_->next();
    if (!batch) break;
    const std::int64_t examples = rows_of(*batch);
    const auto values = engine_.local->train->run(std::move(*batch));
    totals.add(values, examples);
    line.step();
    ++progress.batches;
    if (looks_at_batches_) show_batch(training, values, examples);
  }
  if (progress.batches == 0)
    throw invalid_argument(
        fmt::format("epoch {} has no examples: the data ended early", progress.epoch));
  Logs logs;
  totals.write_to(logs);
  if (validation_batches_) {
    const Logs validation = test(engine_, *validation_batches_);
    for (const auto& [name, value] : validation.values()) logs.set("val_" + name, value);
  }
  line.finish(logs);
  return logs;
}

void FitLoop::show_batch(Training& training, std::span<const Tensor> values, std::int64_t examples) {
  Totals own(engine_.compiled().metrics);
  own.add(values, examples);
  Logs logs;
  own.write_to(logs);
  for (const auto& callback : options_.callbacks)
    callback->on_batch_end(training, engine_.progress.batches, logs);
}

}  // namespace actorflow
