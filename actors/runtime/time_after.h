// Times that are far away.
#pragma once

#include <chrono>

#include "actors/runtime/clock.h"

namespace actorflow {

// `duration` after `now`; Clock::never if no time is that late. So the largest duration, by which
// programs say "for ever", does not end in the past.
inline Clock::time_point time_after(Clock::time_point now, std::chrono::milliseconds duration) {
  const auto left = std::chrono::floor<std::chrono::milliseconds>(Clock::never - now);
  return duration < left ? now + duration : Clock::never;
}

}  // namespace actorflow
