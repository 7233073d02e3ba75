// Evaluation of checkpoints. For this folder only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/estimator/estimator.h"
#include "actors/estimator/estimator_model.h"
#include "actors/events/event_writer.h"
#include "actors/monitored/event_log.h"

namespace actorflow {

// Not thread-safe. REQUIRES: the estimator outlives this.
class Evaluation {
 public:
  // Throws invalid_argument for options that make no sense, and what reading an example throws.
  Evaluation(const Estimator& estimator, const InputFn& input_fn,
             const EstimatorEvaluateOptions& options);

  // Whether the results of a checkpoint that was measured before become events again.
  enum class Events : std::uint8_t { always, once };
  // Measures the newest checkpoint that is whole. Throws not_found, "no trained model in DIR", if there
  // is none, and data_loss if none is whole.
  Logs run(Events events = Events::once);
  // The two halves of run(), for a CheckpointWatch: load() loads the newest whole checkpoint and returns
  // its step; measure() measures it.
  std::int64_t load();
  Logs measure(std::int64_t step, Events events = Events::once);
  // The step of the last checkpoint that any process has measured; -1 before the first.
  std::int64_t last_step() const { return last_step_; }

 private:
  void write(std::int64_t step, const Logs& logs);

  const RunConfig& config_;
  std::string folder_;
  EstimatorModel made_;
  Model model_;
  std::optional<Dataset> examples_;
  std::int64_t batch_size_ = 0;
  EventLog events_;
  std::int64_t last_step_ = -1;
};

}  // namespace actorflow
