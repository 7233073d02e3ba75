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

// What the jobs of many seeds came to.
struct RehearsalSummary {
  struct Failure {
    std::uint64_t seed = 0;
    std::string text;  // with the faults, and where the logs are
  };
  std::uint64_t seeds = 0;
  std::map<std::string, std::uint64_t> faults;  // by kind
  std::uint64_t too_late = 0;                   // faults: the job was over before
  PacketCounts packets;                         // of jobs with faults of the network
  std::vector<Failure> failures;
};

// Throws UsageError that says which of the faults cannot be had here, why, and what to do.
void check_possible(const Scenario& scenario, SeedRange range);

// How many jobs this machine has cores for.
int jobs_at_once(const Scenario& scenario);

// Runs the job of each seed as real processes, `at_once` side by side, and checks what comes out against
// the undisturbed one's report. Begins no new ones after a failure. Ends early, with nothing left
// behind, once `interrupted`. Calls `progress` with the sum so far from time to time. From the main
// thread.
RehearsalSummary rehearse(const Scenario& scenario, const TrainReport& undisturbed, SeedRange range,
                          int at_once, const std::atomic<bool>& interrupted,
                          const std::function<void(const RehearsalSummary&)>& progress);

}  // namespace actorflow
