// Runs for a range of seeds on all cores, in forked processes, so that no run can change another.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/simulation/seeds.h"

namespace actorflow {

// The results of the runs of many seeds.
struct SeedSummary {
  std::uint64_t seeds = 0;
  std::chrono::nanoseconds simulated{0};
  std::uint64_t messages = 0;
  std::map<std::string, std::uint64_t> faults;  // by kind
  std::map<std::string, std::uint64_t> points;  // hit, by name
  std::vector<std::string> failures;            // one text each, with what became of its trace

  void add(const SimStatistics& statistics);
  void add(const SeedSummary& other);
};

// Runs `body` for every seed in `processes` forked processes, and calls `progress` with the sum so far
// from time to time. `body` throws to fail, and returns what happened; a failed run's trace is written
// to `trace_path`, if that is not empty. After a failure no new seeds are begun. The process must have
// no other threads.
SeedSummary run_seeds_in_processes(SeedRange range, int processes,
                                   const std::function<SimStatistics()>& body,
                                   const std::string& trace_path,
                                   const std::function<void(const SeedSummary&)>& progress);

}  // namespace actorflow
