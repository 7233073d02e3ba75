// Reports on the steps of training, for people.
#pragma once

#include <cstdint>
#include <optional>

#include "actors/estimator/run_config.h"
#include "actors/monitored/event_log.h"
#include "actors/monitored/step_timer.h"
#include "actors/runtime/clock.h"
#include "actors/runtime/storage.h"

namespace actorflow {

// Writes log lines, and the scalars "loss" and "global_step/sec" to the model_dir. An error of the
// storage is logged. Not thread-safe. REQUIRES: storage and clock outlive this.
class StepReport {
 public:
  StepReport(const RunConfig& config, Storage& storage, Clock& clock);

  // Call after each step. `step` is less than before where training went back to a checkpoint.
  void after(std::int64_t step, double loss);

 private:
  void log(std::int64_t step, double loss, Clock::time_point now);
  void summarize(std::int64_t step, double loss, Clock::time_point now);

  Clock& clock_;
  StepTimer log_, summaries_;
  std::int64_t last_step_ = -1;
  std::optional<EventLog> events_;
};

}  // namespace actorflow
