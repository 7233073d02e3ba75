// Runs for a range of seeds on all cores, in forked processes, so that no run can change another.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "actors/simulation/seeds.h"

namespace actorflow {

// The results of the runs of many seeds.
struct SeedSummary {
  std::uint64_t seeds = 0;
  std::chrono::nanoseconds simulated{0};
  std::uint64_t messages = 0;
  std::map<std::string, std::uint64_t> faults;  // by kind
  std::uint64_t too_late = 0;                   // faults that came when all was over
  std::map<std::string, std::uint64_t> points;  // hit, by name
  std::map<std::uint64_t, std::string> errors;  // by seed

  void add(const SimStatistics& statistics);
  void add(const SeedSummary& other);
};

// Runs `body` for every seed in `processes` forked processes, and calls `progress` with the sum so far
// from time to time. `body` throws to fail, and returns what happened. After a failure only smaller
// seeds are begun, so that the smallest that fails is among the errors, whatever the number of
// processes. A process that dies is an error of the seed that it ran. The process must have no other
// threads.
SeedSummary run_seeds_in_processes(SeedRange range, int processes,
                                   const std::function<SimStatistics()>& body,
                                   const std::function<void(const SeedSummary&)>& progress);

// Says, in words, why `body` fails for a seed with that error, and the command that repeats it, which
// `program` is the end of; the faults are shrunk, and a trace is written to `trace_path`, in a forked
// process, which may die of it as that of the seed did.
std::string explain_seed(std::uint64_t seed, const std::string& error,
                         const std::function<SimStatistics()>& body, const std::string& trace_path,
                         const std::string& program);

}  // namespace actorflow
