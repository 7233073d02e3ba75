// Numbers of steps that follow from epochs.
#pragma once

#include <cmath>
#include <cstdint>

#include "dataflow/values/error.h"

namespace actorflow {

// The nearest whole number. Throws invalid_argument for 2^63 and more, which no counter of steps holds.
inline std::int64_t whole_steps(double steps) {
  if (!(std::abs(steps) < 0x1p63))
    throw invalid_argument("expected fewer than 2^63 steps: give fewer epochs");
  return std::llround(steps);
}

}  // namespace actorflow
