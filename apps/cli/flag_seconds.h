// Waits that a flag gives in seconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "dataflow/values/bounded_wait.h"

namespace actorflow {

// In milliseconds, a century at most; only 0 s, which often means "for ever", are 0 ms.
inline std::int64_t milliseconds_of(double seconds) {
  constexpr double longest = 1e10;  // more than a century, and far below what 64 bits hold
  const std::int64_t rounded = std::llround(std::min(seconds, longest) * 1000);
  return bounded_wait(seconds > 0 ? std::max<std::int64_t>(1, rounded) : rounded);
}

}  // namespace actorflow
