// A memory of recent steps. Not thread-safe.
#pragma once

#include <deque>
#include <unordered_set>

#include "schema/message.h"

namespace actorflow {

// Remembers a limited number of steps; the oldest is forgotten first.
class RecentSteps {
 public:
  explicit RecentSteps(std::size_t capacity) : capacity_(capacity) {}

  bool contains(StepId step) const { return known_.contains(step); }
  void add(StepId step) {
    if (!known_.insert(step).second) return;
    order_.push_back(step);
    if (order_.size() <= capacity_) return;
    known_.erase(order_.front());
    order_.pop_front();
  }

 private:
  std::size_t capacity_;
  std::unordered_set<StepId> known_;
  std::deque<StepId> order_;
};

}  // namespace actorflow
