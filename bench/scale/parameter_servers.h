// A training job of parameter servers and workers in a simulated cluster: the production actors and
// sessions, on a modelled network, in virtual time.
#pragma once

#include <chrono>
#include <cstdint>

#include "actors/simulation/link_model.h"
#include "dataflow/train/strategy.h"

namespace actorflow::bench {

struct PsJob {
  int ps = 16;
  int workers = 1;
  Strategy strategy = Synchronous{};
  // Of the variable on each parameter server: read whole, and updated with a gradient of its size, in
  // every step of every worker.
  std::int64_t bytes_per_ps = 4;
  // The mean computing time of a worker's step; it is uniformly up to `spread` longer or shorter.
  std::chrono::nanoseconds compute{0};
  double spread = 0;
  int steps = 10;  // measured, after two that are not
  LinkModel links{};
};

struct PsJobTimes {
  double step_s = 0;       // of a worker, in virtual time
  double steps_per_s = 0;  // of all workers; of a synchronous job, global steps
  // The fractions of the time in which parameter servers handle messages: the first, which has the
  // global step and, in a synchronous job, the barrier; and the last.
  double coordinator_busy = 0;
  double other_ps_busy = 0;
  double messages = 0;        // between tasks, in a step of a worker
  double deliveries = 0;      // that carry them (LinkModel::delivery_cost)
  double simulated_in_s = 0;  // real time, the start of the cluster included
  double peak_mib = 0;        // of this process
};

// Throws what the job throws.
PsJobTimes simulate(const PsJob& job);

}  // namespace actorflow::bench
