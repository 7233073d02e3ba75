#include "actors/models/fit/fit_loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/input/rows.h"
#include "dataflow/values/error.h"

namespace actorflow {

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

Logs evaluate(ModelEngine& model, const TrainingData& data, std::int64_t batch_size) {
  if (data.size()) batch_size = std::min(check_batch_size(batch_size), *data.size());
  Batches batches(model.local->server, data, {.batch_size = batch_size});
  return test(model, batches);
}

FitLoop::FitLoop(Model& model, ModelEngine& engine, const TrainingData& data, const FitOptions& options)
    : model_(model), engine_(engine), options_(options) {
  check_options(options, data);
  engine_.build_training(types_of_example(data.elements()));
  if (options.validation_data)
    engine_.build_testing(types_of_example(options.validation_data->elements()));
  data_.emplace(engine_.local->server, data, options,
                BatchesOptions{.batch_size = options.batch_size,
                               .shuffle = options.shuffle,
                               .seed = engine_.compiled().seed,
                               .steps_per_epoch = options.steps_per_epoch});
  for (const auto& callback : options.callbacks) looks_at_batches_ |= callback->looks_at_batches();
}

History FitLoop::run() {
  History history;
  FitContext training(model_, engine_.local->in_session.storage(), {.epoch = options_.initial_epoch + 1},
                      options_.epochs);
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

Logs FitLoop::run_epoch(FitContext& training) {
  FitProgress& progress = engine_.progress;
  data_->training.begin_epoch(progress.epoch, progress.batches);
  ProgressLine line(steady_clock(), options_.verbosity == Verbosity::silent, progress.epoch,
                    options_.epochs, data_->training.steps());
  Totals totals(engine_.compiled().metrics);
  while (!training.stopped()) {
    auto batch = data_->training.next();
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
  if (data_->validation) {
    const Logs validation = test(engine_, *data_->validation);
    for (const auto& [name, value] : validation.values()) logs.set("val_" + name, value);
  }
  line.finish(logs);
  return logs;
}

void FitLoop::show_batch(FitContext& training, std::span<const Tensor> values, std::int64_t examples) {
  Totals own(engine_.compiled().metrics);
  own.add(values, examples);
  Logs logs;
  own.write_to(logs);
  for (const auto& callback : options_.callbacks)
    callback->on_batch_end(training, engine_.progress.batches, logs);
}

}  // namespace actorflow
