// Scenarios on simulated clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/scenario/scenario.h"
#include "apps/training/reports/report.h"

namespace actorflow {

// The result of a simulated job.
struct SimulatedJob {
  using Files = std::map<std::string, std::vector<std::byte>>;
  using Counters = std::map<std::string, std::int64_t>;

  TrainReport report;  // of training: by the last life of the chief that made one
  Files files;         // of a map/reduce job: what it has written, by name
  // The job's counters, as each task was told them that has come to the end of it. The first task may
  // have been lost when all was written, and not have come there again.
  std::vector<Counters> counters;
  SimStatistics statistics;
  std::uint64_t trace_hash = 0;
  std::string last_lines;  // SimCluster::last_lines()
};

// The job without its faults, with which others are compared; a map/reduce job on one task. Asynchronous
// training differs from run to run, so it is the one of median accuracy among five. Throws Error if it
// fails.
SimulatedJob simulate_undisturbed(const Scenario& scenario);

// The job with the faults of the running seed (SeedScope), or of seed 1. Throws Error if it fails,
// hangs, or its result is not what the scenario expects.
SimulatedJob simulate(const Scenario& scenario, const SimulatedJob& undisturbed);

}  // namespace actorflow
