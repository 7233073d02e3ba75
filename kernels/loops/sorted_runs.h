// Runs of equal keys in a sorted array, found by each thread of a GPU for itself.
#pragma once

#include <cstdint>

#include "kernels/devices/host_device.h"

namespace actorflow {

// Whether the key at `i` differs from the one before it.
template <class Key>
ACTORFLOW_HOST_DEVICE bool begins_run(const Key* sorted, std::int64_t i) {
  return i == 0 || sorted[i] != sorted[i - 1];
}

// Behind the last key equal to that at `begin`, or `limit` if that comes first. Most runs are short: so
// it looks ever further ahead until another key is seen, and then halves the way.
// REQUIRES: begin < limit, and `limit` keys at least.
template <class Key>
ACTORFLOW_HOST_DEVICE std::int64_t end_of_run(const Key* sorted, std::int64_t begin,
                                              std::int64_t limit) {
  const Key key = sorted[begin];
  const auto has = [&](std::int64_t i) { return i < limit && sorted[i] == key; };
  std::int64_t last = begin, step = 1;
  for (; has(last + step); step *= 2) last += step;
  while (step > 1) {  // the run ends behind `last`, but not behind last + step
    step /= 2;
    if (has(last + step)) last += step;
  }
  return last + 1;
}

}  // namespace actorflow
