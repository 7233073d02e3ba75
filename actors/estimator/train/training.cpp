#include "actors/estimator/train/training.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <variant>

#include "actors/checkpoint/folder.h"
#include "actors/estimator/model_dir.h"
#include "actors/models/data/batches.h"
#include "actors/monitored/training_end.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

void expect_positive_count(std::string_view what, const std::optional<std::int64_t>& count) {
  if (count && *count < 1)
    throw invalid_argument(fmt::format("train: expected {} of 1 or more, got {}", what, *count));
}

bool has_nothing_to_do(const RunConfig& config, const std::optional<std::int64_t>& max_steps) {
  Storage& storage = storage_of(config);
  if (!max_steps || latest_step(storage, config.model_dir).value_or(-1) < *max_steps) return false;
  if (newest_whole_step(storage, config.model_dir).value_or(-1) < *max_steps) return false;
  spdlog::info("nothing to train: {} has reached max_steps {}", config.model_dir, *max_steps);
  return true;
}

// Of the limits alone.
void check(const EstimatorTrainOptions& options) {
  const auto& [steps, max_steps, callbacks] = options;
  if (steps && max_steps)
    throw invalid_argument(
        fmt::format("train: give steps ({}) or max_steps ({}), not both", *steps, *max_steps));
  expect_positive_count("steps", steps);
  expect_positive_count("max_steps", max_steps);
}

void check(const TrainCall& training) {
  check_batch_size(training.input.batch_size);
  if (training.input.num_epochs < 0)
    throw invalid_argument(
        fmt::format("train: expected num_epochs of 0 or more, got {}", training.input.num_epochs));
  if (!training.options.steps && !training.options.max_steps && training.input.num_epochs == 0)
    throw invalid_argument(
        "train: it would have no end; give steps or max_steps, or an input with num_epochs");
}

}  // namespace

void train(const Estimator& estimator, const InputFn& input_fn, const EstimatorTrainOptions& options,
           const Saved& saved) {
  const RunConfig& config = estimator.config();
  check(options);
  if (config.is_evaluator)
    throw Error(Code::failed_precondition,
                "train: this process is the evaluator, which trains nothing; call train_and_evaluate()");
  if (is_chief(config.strategy)) expect_checkpoint_folder(storage_of(config), config.model_dir);
  const EstimatorModel model(estimator.model_fn(), config);
  const NamedExamples input = input_fn();
  const TrainCall training{model, input, config, options};
  check(training);
  if (!server_of(config.strategy) && has_nothing_to_do(config, options.max_steps)) return;
  std::visit(
      [&](const auto& strategy) {
        if constexpr (std::is_same_v<std::decay_t<decltype(strategy)>, OneDevice>)
          train_here(training, saved);
        else
          train_on(training, strategy, saved);
      },
      config.strategy);
}

}  // namespace actorflow
