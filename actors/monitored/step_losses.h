// What a session's failed steps have cost so far, which says whether another one is worth a try.
#pragma once

#include <cstdint>
#include <utility>

namespace actorflow {

// A value.
class StepLosses {
 public:
  explicit StepLosses(int max_rollbacks) : max_rollbacks_(max_rollbacks) {}

  void step_made() {
    made_since_loss_ = true;
    exhausted_ = 0;
  }
  // A step was lost, for which there will be a new session. False if none was made since the loss
  // before: what there is to recover from takes time.
  bool step_lost() { return std::exchange(made_since_loss_, false); }

  // Of values that are not finite: whether the job may go back to the newest checkpoint once more, which
  // counts.
  bool roll_back() {
    if (rollbacks_ == max_rollbacks_) return false;
    ++rollbacks_;
    return true;
  }
  int rollbacks() const { return rollbacks_; }

  // Of a step that lacked memory or the like: in how many ms it is to be made again; 0: no more.
  std::int64_t pause_for_resources() {
    constexpr int tries = 3;
    return exhausted_ == tries ? 0 : std::int64_t{1000} << exhausted_++;
  }

 private:
  int max_rollbacks_;
  int rollbacks_ = 0;
  int exhausted_ = 0;  // steps in a row
  bool made_since_loss_ = true;
};

}  // namespace actorflow
