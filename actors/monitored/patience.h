// Waiting for something that is polled, not for ever and not in silence.
#pragma once

#include <chrono>
#include <string>

namespace actorflow {

// Of one wait of a blocking thread.
class Patience {
 public:
  // `limit_secs` 0 = without end.
  Patience(std::string who, double limit_secs) : who_(std::move(who)), limit_secs_(limit_secs) {}

  // Sleeps for a moment. Logs "<who> waits <for_what>, since <n> s" every few seconds. Throws
  // deadline_exceeded with that when the limit is over.
  void wait(const std::string& for_what);

 private:
  using Clock = std::chrono::steady_clock;
  std::string who_;
  double limit_secs_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point next_report_ = began_ + std::chrono::seconds(2);
};

}  // namespace actorflow
