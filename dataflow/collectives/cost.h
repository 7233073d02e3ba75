// How long the algorithms of an all-reduce take, by a model, and which one is the fastest.
#pragma once

#include <cstdint>

#include "dataflow/collectives/schedule.h"

namespace actorflow {

// A rank sends one message after the other, each of which takes it per_message + bytes * per_byte; the
// message is there a latency later. (LogGP: A. Alexandrov et al., "LogGP: Incorporating Long Messages
// into the LogP Model", 1995.) In seconds. The defaults are of the right size for processes of one
// machine; nothing measures them (README.md says what that costs on a network).
struct CostModel {
  double latency = 30e-6;
  double per_message = 2e-6;
  double per_byte = 0.25e-9;
  double per_added_byte = 0.1e-9;
};

// The time of an all-reduce of so many bytes. REQUIRES: an algorithm that is chosen automatically:
// direct, doubling or rabenseifner.
double all_reduce_seconds(Algorithm algorithm, int ranks, std::int64_t bytes, const CostModel& model);
// The number of bytes from which on rabenseifner is the fastest. README.md has the formula.
double crossover_bytes(int ranks, const CostModel& model);
// The fastest algorithm.
Algorithm choose_all_reduce(int ranks, std::int64_t bytes, const CostModel& model);

}  // namespace actorflow
