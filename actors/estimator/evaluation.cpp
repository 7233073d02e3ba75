#include "actors/estimator/evaluation.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <variant>

#include "actors/estimator/model_dir.h"
#include "actors/events/event_reader.h"
#include "actors/models/data/batches.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The step of the last results in the folder; -1 if there are none. Each are one record of a file: there
// as a whole, or not.
std::int64_t last_evaluated_step(Storage& storage, const std::string& folder) {
  EventReader reader(storage, folder);
  std::int64_t last = -1;
  for (;;) try {
      for (const Event& event : reader.poll())
        if (std::holds_alternative<std::vector<Summary>>(event.what)) last = std::max(last, event.step);
      return last;
    } catch (const Error& error) {
      if (error.code() != Code::data_loss) throw;
      spdlog::warn("a damaged file of earlier evaluations is passed over: {}", error.what());
    }
}

std::string text_of(const Logs& logs) {
  std::string text;
  for (const auto& [name, value] : logs.values()) text += fmt::format(", {} {:.6g}", name, value);
  return text;
}

}  // namespace

Evaluation::Evaluation(const Estimator& estimator, const InputFn& input_fn,
                       const EstimatorEvaluateOptions& options)
    : config_(estimator.config()),
      folder_(eval_folder_of(config_, options.name)),
      made_(estimator.model_fn(), config_),
      model_(made_.trainable(runtime_of(config_))),
      events_(std::make_shared<EventWriter>(storage_of(config_), folder_,
                                            EventWriterOptions{.flush_interval_s = 0})) {
  const NamedExamples input = input_fn();
  batch_size_ = check_batch_size(input.batch_size);
  if (options.steps && *options.steps < 1)
    throw invalid_argument(fmt::format("evaluate: expected steps of 1 or more, got {}", *options.steps));
  examples_ = made_.labelled(input);
  if (options.steps) examples_ = examples_->take(*options.steps * batch_size_);
  model_.build(types_of_example(made_.unlabelled(input), runtime_of(config_)));
  last_step_ = last_evaluated_step(storage_of(config_), folder_);
}

std::int64_t Evaluation::load() {
  model_.load(config_.model_dir);
  return model_.step();
}

Logs Evaluation::run(Events events) { return measure(load(), events); }

Logs Evaluation::measure(std::int64_t step, Events events) {
  Logs logs = model_.evaluate(*examples_, {.batch_size = batch_size_});
  if (events == Events::always || step != last_step_) write(step, logs);
  logs.set("global_step", static_cast<double>(step));
  return logs;
}

void Evaluation::write(std::int64_t step, const Logs& logs) {
  std::vector<Summary> results;
  for (const auto& [name, value] : logs.values()) results.push_back({name, ScalarSummary{value}});
  events_.write([&](EventWriter& to) {
    to.write(step, results);
    to.flush();
  });
  spdlog::info("evaluated step {}{}", step, text_of(logs));
  last_step_ = step;
}

}  // namespace actorflow
