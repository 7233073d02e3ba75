// When to say for whom one waits.
#pragma once

#include <chrono>

namespace actorflow {

// A value: after 2 s for the first time, and then every 5 s.
class WaitingReport {
 public:
  using Clock = std::chrono::steady_clock;

  // True if it is time to say it, and then not again before the next time.
  bool is_due() {
    if (Clock::now() < next_) return false;
    next_ = Clock::now() + std::chrono::seconds(5);
    return true;
  }
  Clock::time_point next() const { return next_; }

 private:
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(2);
};

}  // namespace actorflow
