#include "actors/master/step_deadlines.h"

#include <chrono>

#include "dataflow/values/bounded_wait.h"

namespace actorflow {

void StepDeadlines::set(StepId id, RunningStep& step, std::int64_t timeout_ms) {
  const auto deadline = self_->clock().now() + bounded_wait(std::chrono::milliseconds(timeout_ms));
  deadlines_.emplace(deadline, id);
  step.deadline = deadline;
  step.timeout_ms = timeout_ms;
  set_timer();
}

void StepDeadlines::forget(StepId id, RunningStep& step) {
  deadlines_.erase({std::exchange(step.deadline, Clock::never), id});
}

void StepDeadlines::set_timer() {
  if (deadlines_.empty()) return;
  const auto due = deadlines_.begin()->first;
  if (!timers_.empty() && *timers_.begin() <= due) return;
  self_->delayed_send(self_, due - self_->clock().now(), LookForLateSteps{due});
  timers_.insert(due);
}

}  // namespace actorflow
