// Training with evaluation of what was saved, in one process or by the tasks of a cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/estimator/estimator.h"

namespace actorflow {

struct TrainSpec {
  InputFn input_fn;
  std::int64_t max_steps = 0;  // more than 0
  Callbacks callbacks{};
};

struct EvalSpec {
  InputFn input_fn;
  std::optional<std::int64_t> steps{};  // batches of an evaluation; none: all examples
  std::string name{};                   // as EstimatorEvaluateOptions::name
  // The folder to which the trained model is exported at the end; none: model_dir/export.
  std::optional<std::string> export_folder{};
};

// Trains until max_steps and evaluates the checkpoints that are saved on the way, the newest first, each
// once; then exports the last one. Returns what was measured of that.
//
// The same program is every task of a cluster (run_config_from_environment()): chief, workers and
// parameter servers train, and the evaluator, which is no part of the cluster, waits for checkpoints in
// the model_dir, evaluates and exports, until training is complete. Only a process that evaluates
// returns something. After an interruption nothing is exported.
std::optional<Logs> train_and_evaluate(const Estimator& estimator, const TrainSpec& train_spec,
                                       const EvalSpec& eval_spec);

}  // namespace actorflow
