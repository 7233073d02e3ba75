#include "actors/models/fit/fit_loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/input/rows.h"
#include "actors/models/data/not_finite_data.h"
#include "dataflow/values/error.h"

namespace actorflow {

namespace {

Logs test(ModelEngine& model, FitBatches& batches) {
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

Logs logs_of_epoch(ModelEngine& model, const Totals& training, FitData& data, int epoch) {
  Logs logs;
  training.write_to(logs);
  if (!data.validation || !data.validation_freq.includes(epoch)) return logs;
  const Logs validation = test(model, *data.validation);
  for (const auto& [name, value] : validation.values()) logs.set("val_" + name, value);
  return logs;
}

Logs evaluate(ModelEngine& model, const TrainingData& data, const EvaluateOptions& options) {
  BatchesOptions shape{.batch_size = check_batch_size(options.batch_size),
                       .first_steps = check_steps("evaluate", options.steps),
                       .may_be_few = true};
  if (data.size()) shape.batch_size = std::min(shape.batch_size, *data.size());
  FitBatches batches(model.local->server, data, shape);
  return test(model, batches);
}

FitLoop::FitLoop(Model& model, ModelEngine& engine, const TrainingData& data, const FitOptions& options)
    : engine_(engine), source_(data), options_(options), totals_(engine.compiled().metrics) {
  check_options(options, data);
  const std::int64_t parts = options.gradient_accumulation_steps;
  expect_divisible(options.batch_size, 1, parts);
  step_ = &engine_.build_training(types_of_example(data.elements(), engine_.threads()),
                                  {.parts = parts, .weighted = !options.class_weight.empty()});
  if (options.validation_data)
    engine_.build_testing(types_of_example(options.validation_data->elements(), engine_.threads()));
  BatchesOptions shape = batches_of(options, engine_.compiled().seed);
  shape.parts = parts;
  data_.emplace(engine_.local->server, data, options, shape);
  context_.emplace(model, *engine_.local->server.runtime(),
                   FitProgress{.epoch = options.initial_epoch + 1}, options.epochs);
  context_->set_measured(names_measured(options, engine_.compiled().metrics));
  context_->set_sums_of_epoch([this] { return totals_.sums(); });
  callbacks_.emplace(options.callbacks, engine_.compiled().metrics, *context_);
}

History FitLoop::run() {
  History history;
  callbacks_->on_train_begin();
  totals_.add_sums(context_->take_resumed_sums());
  if (context_->resumed()) callbacks_->warn_of_missing(context_->first().epoch);
  FitProgress& progress = engine_.progress = context_->first();
  while (progress.epoch <= options_.epochs && !context_->stopped()) {
    const int epoch = progress.epoch;
    callbacks_->on_epoch_begin(epoch);
    if (context_->stopped()) break;
    Logs logs = run_epoch();
    if (is_whole_epoch()) progress = {.epoch = epoch + 1};
    callbacks_->on_epoch_end(epoch, logs);
    totals_.clear();
    history.epochs.push_back(epoch);
    history.logs.push_back(std::move(logs));
  }
  callbacks_->on_train_end();
  return history;
}

// One that was stopped before its end goes on where it was, should training go on.
bool FitLoop::is_whole_epoch() const {
  return !context_->stopped() || data_->training.steps() == engine_.progress.batches;
}

// What a step feeds.
Tuple FitLoop::values_of(std::vector<Tuple> parts, std::int64_t examples) const {
  if (options_.gradient_accumulation_steps == 1) return std::move(parts[0]);
  return engine_.local->nodes.micro_batch_values(step_->nodes, std::move(parts),
                                                 static_cast<float>(examples));
}

std::vector<Tensor> FitLoop::run_step(std::vector<Tuple> parts, std::int64_t examples) {
  try {
    return step_->plan.run(values_of(std::move(parts), examples));
  } catch (const Error& error) {
    const auto batches = [this] {
      const BatchesOptions shape = batches_of(options_, engine_.compiled().seed);
      return FitData(engine_.local->server, source_, options_, shape).training;
    };
    const FitProgress& at = engine_.progress;
    throw with_blame(error, batches, {at.epoch, at.batches, at.batches},
                     engine_.architecture.inputs.size(), engine_.architecture.outputs.size());
  }
}

Logs FitLoop::run_epoch() {
  FitProgress& progress = engine_.progress;
  data_->training.begin_epoch(progress.epoch, progress.batches);
  ProgressLine line(steady_clock(), options_.verbosity == Verbosity::silent, progress.epoch,
                    options_.epochs, data_->training.steps());
  while (!context_->stopped()) {
    auto parts = data_->training.next_parts();
    if (parts.empty()) break;
    std::int64_t examples = 0;
    for (const Tuple& part : parts) examples += rows_of(part);
    const auto values = run_step(std::move(parts), examples);
    totals_.add(values, examples);
    line.step();
    callbacks_->on_batch_end(++progress.batches, values);
    if (options_.interrupted && *options_.interrupted) context_->interrupt();
  }
  if (progress.batches == 0)
    throw invalid_argument(
        fmt::format("epoch {} has no examples: the data ended early", progress.epoch));
  Logs logs;
  if (context_->interrupted())  // whoever has interrupted it waits
    totals_.write_to(logs);
  else
    logs = logs_of_epoch(engine_, totals_, *data_, progress.epoch);
  line.finish(logs);
  return logs;
}

}  // namespace actorflow
