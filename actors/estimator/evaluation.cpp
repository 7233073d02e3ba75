#include "actors/estimator/evaluation.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <string_view>

#include "actors/checkpoint/number_file.h"
#include "actors/estimator/model_dir.h"
#include "actors/models/fit/batches.h"
#include "actors/monitored/training_end.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::string_view last_evaluated = "/last-evaluated";

std::vector<TensorType> inputs_of(const EstimatorModel& made, const NamedExamples& input) {
  return types_of_example(made.unlabelled(input));
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
      model_(made_.trainable()),
      events_(std::make_shared<EventWriter>(posix_storage(), folder_,
                                            EventWriterOptions{.flush_interval_s = 0})) {
  const NamedExamples input = input_fn();
  batch_size_ = check_batch_size(input.batch_size);
  if (options.steps && *options.steps < 1)
    throw invalid_argument(fmt::format("evaluate: expected steps of 1 or more, got {}", *options.steps));
  examples_ = made_.labelled(input);
  if (options.steps) examples_ = examples_->take(*options.steps * batch_size_);
  model_.build(inputs_of(made_, input));
  last_step_ = read_number(posix_storage(), folder_ + std::string(last_evaluated)).value_or(-1);
}

std::int64_t Evaluation::load() {
  model_.load(config_.model_dir);
  return model_.step();
}

Logs Evaluation::run() { return measure(load()); }

std::optional<Logs> Evaluation::run_if_new() {
  constexpr int max_failures = 20;
  Storage& storage = posix_storage();
  const auto newest = latest_step(storage, config_.model_dir);
  if (!newest || *newest <= last_step_) return std::nullopt;
  std::int64_t step = -1;
  std::string damage;
  try {
    step = load();
  } catch (const Error& error) {
    if (error.code() != Code::data_loss && error.code() != Code::not_found) throw;
    damage = error.what();
  }
  if (step > last_step_) {
    failures_ = 0;
    return measure(step);
  }
  // The chief may remove a checkpoint while it is read; there is a newer one then.
  if (latest_step(storage, config_.model_dir) == newest && ++failures_ >= max_failures)
    throw Error(Code::data_loss,
                fmt::format("the checkpoint of step {} in {} is damaged, and there is no newer one: {}",
                            *newest, config_.model_dir, damage));
  return std::nullopt;
}

Logs Evaluation::measure(std::int64_t step) {
  Logs logs = model_.evaluate(*examples_, {.batch_size = batch_size_});
  events_.write([&](EventWriter& to) {
    for (const auto& [name, value] : logs.values()) to.scalar(step, name, value);
    to.flush();
  });
  spdlog::info("evaluated step {}{}", step, text_of(logs));
  logs.set("global_step", static_cast<double>(step));
  last_step_ = step;
  write_number(posix_storage(), folder_ + std::string(last_evaluated), step);
  return logs;
}

}  // namespace actorflow
