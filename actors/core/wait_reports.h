// When a wait is worth a line in the log: soon at first, then now and then.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "actors/runtime/clock.h"

namespace actorflow {

// How often actors look at what waits with them. What is there twice in a row has waited for 1 to 2 s.
inline constexpr std::chrono::seconds wait_look_interval{1};

// The lines about the waits in one place. A value; not thread-safe.
class WaitReports {
 public:
  // Within this time the same ones are named once, and no more than `most` lines are written: neither a
  // long wait nor many short ones, also for some by turns, flood the log.
  static constexpr std::chrono::seconds interval{10};
  static constexpr std::size_t most = 3;

  // Whether to say now for whom somebody waits. If so, it counts as said.
  bool is_due(const std::string& whom, Clock::time_point now) {
    std::erase_if(said_, [now](const Line& line) { return now - line.at >= interval; });
    if (said_.size() == most || std::ranges::find(said_, whom, &Line::whom) != said_.end()) return false;
    said_.push_back({whom, now});
    return true;
  }

 private:
  struct Line {
    std::string whom;
    Clock::time_point at;
  };

  std::vector<Line> said_;  // of the last interval
};

}  // namespace actorflow
