// Steps that were given up while a thread may still compute for them.
#pragma once

#include <atomic>
#include <mutex>
#include <set>

#include "kernels/core/kernel.h"
#include "schema/message.h"

namespace actorflow {

// Thread-safe. Asking costs next to nothing as long as there are none.
class StepsGivenUp {
 public:
  void add(StepId step) {
    const std::scoped_lock lock(mutex_);
    steps_.insert(step);
    any_ = true;
  }
  // Does nothing if it is not there.
  void remove(StepId step) {
    if (!any_) return;
    const std::scoped_lock lock(mutex_);
    steps_.erase(step);
    any_ = !steps_.empty();
  }
  bool contains(StepId step) const {
    if (!any_) return false;
    const std::scoped_lock lock(mutex_);
    return steps_.contains(step);
  }

 private:
  mutable std::mutex mutex_;
  std::set<StepId> steps_;
  std::atomic<bool> any_ = false;
};

// The Interruption of a step's kernels. REQUIRES: the steps outlive this.
class StepInterruption final : public Interruption {
 public:
  StepInterruption(const StepsGivenUp& steps, StepId step) : steps_(steps), step_(step) {}
  bool is_interrupted() const override { return steps_.contains(step_); }

 private:
  const StepsGivenUp& steps_;
  StepId step_;
};

}  // namespace actorflow
