// Scenarios on real processes, for a range of seeds.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "actors/simulation/seeds.h"
#include "apps/rehearsal/lan.h"
#include "apps/scenario/scenario.h"

namespace actorflow {

// The results of the jobs of many seeds.
struct RehearsalSummary {
  struct Failure {
    std::uint64_t seed = 0;
    std::string text;  // with the faults, and the folder of the logs
  };
  std::uint64_t seeds = 0;
  std::map<std::string, std::uint64_t> faults;  // by kind
  std::uint64_t too_late = 0;                   // faults that were due after the end of the job
  PacketCounts packets;                         // of jobs with faults of the network
  std::vector<Failure> failures;
};

// Throws UsageError that names the faults that this machine cannot produce, why, and what to do.
void check_possible(const Scenario& scenario, SeedRange range);

// The number of jobs for which this machine has cores.
int jobs_at_once(const Scenario& scenario);

// Runs the job of each seed as real processes, `at_once` side by side, and compares each report with
// that of the undisturbed job. Begins no new jobs after a failure. Ends early, leaving nothing behind,
// once `interrupted` is true. Calls `progress` with the sum so far from time to time. Call it from the
// main thread.
RehearsalSummary rehearse(const Scenario& scenario, const TrainReport& undisturbed, SeedRange range,
                          int at_once, const std::atomic<bool>& interrupted,
                          const std::function<void(const RehearsalSummary&)>& progress);

}  // namespace actorflow
