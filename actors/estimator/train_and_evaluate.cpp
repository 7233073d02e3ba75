#include "actors/estimator/train_and_evaluate.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "actors/checkpoint/folder.h"
#include "actors/estimator/evaluation.h"
#include "actors/estimator/model_dir.h"
#include "actors/estimator/train/training.h"
#include "actors/monitored/checkpoint_watch.h"
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

// Measures each new checkpoint; `last` becomes what was measured. REQUIRES: both outlive the watch.
CheckpointWatch watch_with(Evaluation& evaluation, const RunConfig& config, std::optional<Logs>& last) {
  return {storage_of(config),
          config.model_dir,
          {.load = [&evaluation] { return evaluation.load(); },
           .handle = [&evaluation, &last](std::int64_t step) { last = evaluation.measure(step); }},
          evaluation.last_step()};
}

// In one process: between the steps of training, which waits meanwhile.
std::optional<Logs> train_and_evaluate_here(const Estimator& estimator, const TrainSpec& training,
                                            const EvalSpec& spec) {
  Evaluation evaluation(estimator, spec.input_fn, options_of(spec));
  std::optional<Logs> last;
  CheckpointWatch watch = watch_with(evaluation, estimator.config(), last);
  train(estimator, training.input_fn, {.max_steps = training.max_steps, .callbacks = training.callbacks},
        [&] { watch.look(); });
  if (is_interrupted(estimator.config())) return last;
  if (!last || last->at("global_step") < static_cast<double>(*estimator.latest_step()))
    last = evaluation.run();
  export_final(estimator, spec);
  return last;
}

// The evaluator beside a cluster.
std::optional<Logs> evaluate_beside(const Estimator& estimator, std::int64_t max_steps,
                                    const EvalSpec& spec) {
  const RunConfig& config = estimator.config();
  auto runtime = runtime_of(config);
  if (!runtime) runtime = Server::local().runtime();
  Evaluation evaluation(estimator, spec.input_fn, options_of(spec));
  std::optional<Logs> last;
  CheckpointWatch watch = watch_with(evaluation, config, last);
  if (!watch.run(*runtime, {.step = max_steps}, [&] { return is_interrupted(config); }))
    return last;
  if (!last) last = evaluation.run();  // an earlier evaluator had come so far
  export_final(estimator, spec);
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
  if (config.is_evaluator) return evaluate_beside(estimator, training.max_steps, spec);
  if (!server_of(config.strategy)) return train_and_evaluate_here(estimator, training, spec);
  estimator.train(training.input_fn, {.max_steps = training.max_steps, .callbacks = training.callbacks});
  return std::nullopt;
}

}  // namespace actorflow
