// The pause before a program is started again.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace actorflow {

// A value: doubles with each short run, so that a program that cannot run is not started without end at
// full speed; a run that lasts as long as the longest pause makes it the first one again.
class GrowingPause {
 public:
  using Duration = std::chrono::milliseconds;

  GrowingPause(Duration first, Duration longest)
      : first_(first), longest_(std::max(first, longest)), next_(first) {}

  // The pause after a run that has lasted so long.
  Duration after(Duration run) {
    if (run >= longest_) next_ = first_;
    return std::exchange(next_, std::min(2 * next_, longest_));
  }

 private:
  Duration first_, longest_, next_;
};

}  // namespace actorflow
