// The seam between actors and time.
#pragma once

#include <chrono>

namespace actorflow {

// A steady clock, which never jumps. Thread-safe.
class Clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr time_point never = time_point::max();

  virtual ~Clock() = default;
  virtual time_point now() = 0;
};

// The machine's clock.
Clock& steady_clock();

}  // namespace actorflow
