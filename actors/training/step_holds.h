// Holds: a checkpoint stops the steps of training for a moment, so that all its variables are of one
// step.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/training/held_steps.h"

namespace actorflow {

// coordinator, to itself: a hold has lasted as long as it may.
struct HoldExpired {
  std::string global_step;
  StepId holder = 0;
};

// The holds of a coordinator, one for each global step at most. The holder is a step of a session, which
// asks for the hold and releases it: whatever ends that step ends the hold.
class StepHolds {
 public:
  using Barriers = std::vector<HeldSteps*>;
  // `barriers`: those of a global step at this moment.
  StepHolds(TaskRef task, std::function<Barriers(const std::string&)> barriers)
      : task_(std::move(task)), barriers_(std::move(barriers)) {}

  // HoldSteps and ReleaseSteps: each answers now or later. hold() returns whether the limit begins.
  bool hold(const StateCall& call);
  void release(const StateCall& call);
  // Call when anything has changed: answers the holders for whom all replicas rest now.
  void settle();
  void expire(const HoldExpired& message);
  // The holder's step has ended without a release.
  void give_up(StepId step);
  // Ends the hold of a global step whose barriers are gone, or will be.
  void forget(const std::string& global_step, const Status& reason);
  void forget_all(const Status& reason);

 private:
  struct Hold {
    ReplyTo holder;
    std::set<std::int64_t> resting;  // replicas of the holder's own
    Clock::time_point began;
    std::optional<Clock::time_point> answered;
  };
  using Holds = std::map<std::string, Hold, std::less<>>;

  bool stand_still(const std::string& global_step, const Hold& hold) const;
  Holds::iterator end(Holds::iterator hold);

  TaskRef task_;
  std::function<Barriers(const std::string&)> barriers_;
  Holds holds_;  // by global step
};

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::HoldExpired)
