// Until when the steps of a master must end.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "actors/core/messages.h"
#include "actors/master/running_step.h"
#include "actors/runtime/clock.h"
#include "actors/runtime/guarded_actor.h"

namespace actorflow {

// To itself: time to look for steps whose deadline is over.
struct LookForLateSteps {
  Clock::time_point due;
};

// All steps have one timer: with one each, millions of timers would outlive steps that ended in time.
// Part of the master, which forwards LookForLateSteps.
class StepDeadlines {
 public:
  explicit StepDeadlines(GuardedActor* self) : self_(self) {}

  void set(StepId id, RunningStep& step, std::int64_t timeout_ms);
  void forget(StepId id, RunningStep& step);

  // Calls `give_up` with the number of each step whose deadline is over by then. It must forget that
  // deadline.
  template <class GiveUp>
  void on_timer(const LookForLateSteps& timer, GiveUp&& give_up) {
    timers_.erase(timer.due);
    while (!deadlines_.empty() && deadlines_.begin()->first <= timer.due)
      give_up(deadlines_.begin()->second);
    set_timer();
  }

 private:
  // Sees to it that a timer ends at the earliest deadline, or before it.
  void set_timer();

  GuardedActor* self_;
  std::set<std::pair<Clock::time_point, StepId>> deadlines_;
  std::set<Clock::time_point> timers_;  // when those that run will end
};

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::LookForLateSteps)
