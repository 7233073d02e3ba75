#include "actors/estimator/train_and_evaluate.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "actors/checkpoint/folder.h"
#include "actors/estimator/evaluation.h"
#include "actors/estimator/model_dir.h"
#include "actors/estimator/train/training.h"
#include "actors/monitored/patience.h"
#include "actors/monitored/training_end.h"
#include "actors/runtime/runtime.h"
#include "actors/task/server.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

EstimatorEvaluateOptions options_of(const EvalSpec& spec) {
  return {.steps = spec.steps, .name = spec.name};
}

void export_final(const Estimator& estimator, const EvalSpec& spec) {
  const std::string folder = spec.export_folder.value_or(estimator.config().model_dir + "/export");
  estimator.export_onnx(folder, spec.input_fn);
  spdlog::info("exported the model of step {} to {}", estimator.latest_step().value(), folder);
}

// In one process: between the steps of training, which waits meanwhile.
std::optional<Logs> train_and_evaluate_here(const Estimator& estimator, const TrainSpec& training,
                                            const EvalSpec& spec) {
  Evaluation evaluation(estimator, spec.input_fn, options_of(spec));
  std::optional<Logs> last;
  train(estimator, training.input_fn, {.max_steps = training.max_steps, .callbacks = training.callbacks},
        [&] {
          if (auto logs = evaluation.run_if_new()) last = std::move(logs);
        });
  if (is_interrupted(estimator.config())) return last;
  if (!last || last->at("global_step") < static_cast<double>(*estimator.latest_step()))
    last = evaluation.run();
  export_final(estimator, spec);
  return last;
}

// The evaluator beside a cluster.
class Evaluator {
 public:
  Evaluator(const Estimator& estimator, std::int64_t max_steps, const EvalSpec& spec)
      : estimator_(estimator), config_(estimator.config()), max_steps_(max_steps), spec_(spec) {}

  std::optional<Logs> run();

 private:
  bool is_over() const;

  const Estimator& estimator_;
  const RunConfig& config_;
  std::int64_t max_steps_;
  const EvalSpec& spec_;
  Evaluation evaluation_{estimator_, spec_.input_fn, options_of(spec_)};
  bool complete_ = false;
};

// Of an end before max_steps only the mark tells. It comes after the last checkpoint.
bool Evaluator::is_over() const {
  const std::int64_t newest = latest_step(storage_of(config_), config_.model_dir).value_or(-1);
  if (newest < 0 || newest > evaluation_.last_step()) return false;
  return complete_ || newest >= max_steps_;
}

std::optional<Logs> Evaluator::run() {
  const Server clock = Server::local();
  Runtime& runtime = *clock.runtime();
  const auto fresh = [&] { return Patience(runtime, "the evaluator", 0); };
  Patience patience = fresh();
  std::optional<Logs> last;
  while (!is_interrupted(config_)) {
    complete_ = is_complete(storage_of(config_), config_.model_dir, max_steps_);
    if (auto logs = evaluation_.run_if_new()) {
      last = std::move(logs);
      patience = fresh();
    } else if (is_over()) {
      if (!last) last = evaluation_.run();  // an earlier evaluator had come so far
      export_final(estimator_, spec_);
      return last;
    } else {
      patience.wait(fmt::format("for a checkpoint after step {} in {}", evaluation_.last_step(),
                                config_.model_dir));
    }
  }
  return last;
}

}  // namespace

std::optional<Logs> train_and_evaluate(const Estimator& estimator, const TrainSpec& training,
                                       const EvalSpec& spec) {
  const RunConfig& config = estimator.config();
  if (training.max_steps < 1)
    throw invalid_argument(
        fmt::format("train_and_evaluate: expected max_steps of 1 or more, got {}", training.max_steps));
  if (config.is_evaluator || !server_of(config.strategy))
    expect_checkpoint_folder(storage_of(config), config.model_dir);
  if (config.is_evaluator) return Evaluator(estimator, training.max_steps, spec).run();
  if (!server_of(config.strategy)) return train_and_evaluate_here(estimator, training, spec);
  estimator.train(training.input_fn, {.max_steps = training.max_steps, .callbacks = training.callbacks});
  return std::nullopt;
}

}  // namespace actorflow
