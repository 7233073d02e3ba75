// How long a thread looks for work before it falls asleep.
#pragma once

#include <sched.h>

#include <chrono>

namespace actorflow {

// Bounds how long a thread looks, and yields the core between looks. Ends early when a yield took long:
// then there are more threads than cores, as with several tasks on a machine, and looking takes the core
// from those that have work. Not thread-safe.
class PoliteSearch {
 public:
  explicit PoliteSearch(std::chrono::microseconds time) : now_(Clock::now()), end_(now_ + time) {}

  // Whether to look once more.
  bool goes_on() {
    if (now_ >= end_) return false;
    sched_yield();
    const auto before = now_;
    now_ = Clock::now();
    others_ran_ = now_ - before > turn_of_another;
    return !others_ran_;
  }
  // Whether it has ended because another thread had the core.
  bool others_ran() const { return others_ran_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds turn_of_another{10};  // a yield to nobody takes less than 1

  Clock::time_point now_;
  const Clock::time_point end_;
  bool others_ran_ = false;
};

}  // namespace actorflow
