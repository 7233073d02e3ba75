// When a wait is worth a line in the log: soon at first, then now and then.
#pragma once

#include <chrono>
#include <string>

#include "actors/runtime/clock.h"

namespace actorflow {

// How often actors look at what waits with them. What is there twice in a row has waited for 1 to 2 s.
inline constexpr std::chrono::seconds wait_look_interval{1};

// The lines about the waits in one place. A value; not thread-safe.
class WaitReports {
 public:
  // Whether to say now for whom somebody waits: at once, but of the same ones only every 10 s, so that
  // neither a long wait nor many short ones flood the log.
  bool is_due(const std::string& whom, Clock::time_point now) {
    if (whom == last_ && now < next_) return false;
    last_ = whom;
    next_ = now + std::chrono::seconds(10);
    return true;
  }

 private:
  std::string last_;
  Clock::time_point next_ = Clock::time_point::min();  // for `last_`
};

}  // namespace actorflow
