// The numbers under which callbacks write logs.
#pragma once

#include <cstdint>

#include "actors/models/fit/callback.h"
#include "actors/models/model.h"

namespace actorflow {

// The number of logs at the end of this epoch, or at the present step of it.
inline std::int64_t number_of_logs(FitContext& training, int epoch) {
  return training.logs_by_step() ? training.model().step() : epoch;
}

// At the beginning of an epoch: its logs have this number or, of steps, a later one.
inline std::int64_t first_number(FitContext& training, int epoch) {
  return number_of_logs(training, epoch) + (training.logs_by_step() ? 1 : 0);
}

}  // namespace actorflow
