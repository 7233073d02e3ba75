// Scenarios on simulated clusters.
#pragma once

#include <cstdint>
#include <optional>

#include "apps/scenario/scenario.h"
#include "apps/training/report.h"

namespace actorflow {

// What a simulated job came to.
struct SimulatedJob {
  TrainReport report;  // of the chief's last life that made one
  SimStatistics statistics;
  std::uint64_t trace_hash = 0;
};

// The job without its faults: what others are compared with. Asynchronous jobs differ from run to run: that of
// median accuracy among five. Throws Error if it fails.
SimulatedJob simulate_undisturbed(const Scenario& scenario);

// The job with the faults of the seed that runs (SeedScope), or of seed 1. Throws Error if it fails, hangs,
// or is not what the scenario expects.
SimulatedJob simulate(const Scenario& scenario, const SimulatedJob& undisturbed);

}  // namespace actorflow
