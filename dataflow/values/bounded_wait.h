// Waits that clocks can count with.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace actorflow {

// Programs say "for ever" by the largest number, whose nanoseconds no clock can add to its time: a wait
// of more than a century is taken for one of a century.
inline std::chrono::milliseconds bounded_wait(std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds longest = std::chrono::hours(100 * 365 * 24);
  return std::clamp(wait, -longest, longest);
}
inline std::int64_t bounded_wait(std::int64_t wait_ms) {
  return bounded_wait(std::chrono::milliseconds(wait_ms)).count();
}

}  // namespace actorflow
