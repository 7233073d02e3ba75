// Timing of hooks that act every few steps or seconds.
#pragma once

#include <chrono>
#include <cstdint>

#include "actors/runtime/clock.h"
#include "dataflow/values/check.h"

namespace actorflow {

// The interval of a hook: every `steps` steps or every `seconds` seconds, whichever is not 0. Both 0:
// never; both set: whichever comes first.
struct Every {
  std::int64_t steps = 0;
  double seconds = 0;
};

// Not thread-safe.
class StepTimer {
 public:
  explicit StepTimer(Every every) : every_(every) {}

  // True at the first step, and then once per interval. A step before the last one (training went back
  // to a checkpoint) counts as the first again.
  bool is_due(std::int64_t step, Clock::time_point now) const {
    if (every_.steps <= 0 && every_.seconds <= 0) return false;
    if (last_step_ < 0 || step < last_step_) return true;
    if (every_.steps > 0 && step >= last_step_ + every_.steps) return true;
    return every_.seconds > 0 && step > last_step_ && seconds_since_last(now) >= every_.seconds;
  }
  // Call when the hook has acted at this step.
  void done(std::int64_t step, Clock::time_point now) {
    last_step_ = step;
    last_time_ = now;
  }
  // The last step at which the hook acted; -1 before the first.
  std::int64_t last_step() const { return last_step_; }
  // The time since the hook acted last. REQUIRES: it has acted.
  double seconds_since_last(Clock::time_point now) const {
    ACTORFLOW_CHECK(last_step_ >= 0, "it has not acted yet; its last step is", last_step_);
    return std::chrono::duration<double>(now - last_time_).count();
  }

 private:
  Every every_;
  std::int64_t last_step_ = -1;
  Clock::time_point last_time_{};
};

}  // namespace actorflow
