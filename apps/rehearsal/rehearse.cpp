#include "apps/rehearsal/rehearse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "apps/cli/program.h"
#include "apps/rehearsal/memory_disk.h"
#include "apps/rehearsal/real_job.h"
#include "apps/rehearsal/real_network.h"

namespace actorflow {
namespace {

using RealTime = std::chrono::steady_clock;
constexpr std::chrono::milliseconds tick{5};
constexpr std::chrono::milliseconds progress_interval{500};

FaultPlan faults_of(const Scenario& scenario, std::uint64_t seed) {
  const auto given = faults_of_environment();
  return given ? *given : scenario.faults(seed);
}

struct Running {
  std::uint64_t seed;
  FaultPlan faults;
  std::unique_ptr<RealJob> job;
};

Running start(const Scenario& scenario, std::uint64_t seed) {
  FaultPlan faults = faults_of(scenario, seed);
  return {seed, faults, std::make_unique<RealJob>(scenario, faults)};
}

// Whether it has ended, and has been added to the sum.
bool has_ended(Running& running, const Scenario& scenario, const TrainReport& undisturbed,
               RehearsalSummary& sum) {
  RealJob& job = *running.job;
  try {
    if (job.advance()) return false;
    scenario.check(job.report(), undisturbed);
  } catch (const std::exception& error) {
    const std::string faults = running.faults.empty()
                                   ? "no fault at all"
                                   : fmt::format("these faults: {}", to_string(running.faults));
    sum.failures.push_back(
        {running.seed, fmt::format("seed {} fails with {}: {}\nits logs, and when each fault came: {}",
                                   running.seed, faults, error.what(), job.keep_files())});
  }
  ++sum.seeds;
  sum.too_late += job.too_late();
  sum.packets.add(job.packets());
  for (const auto& [kind, count] : job.happened()) sum.faults[std::string(to_string(kind))] += count;
  return true;
}

// Real wires and disks are bad for all, and real clocks are right.
bool is_simulated_only(const Fault& fault) {
  const bool is_aimed = !fault.task.job.empty();
  switch (fault.kind) {
    case FaultKind::partition_oneway:
    case FaultKind::clock:
    case FaultKind::disk_errors:
    case FaultKind::disk_slow:
    case FaultKind::disk_torn:
      return true;
    case FaultKind::delay:
      return !is_aimed || !fault.other.job.empty() || fault.by != fault.by.zero();
    case FaultKind::lossy:
    case FaultKind::duplicate:
    case FaultKind::late:
    case FaultKind::disk_full:
    case FaultKind::power:
      return is_aimed;
    default:
      return false;
  }
}

// "faults that need ..., which ...: kinds; ", or "" if all is well.
std::string why_not(const std::set<std::string>& kinds, const std::string& what,
                    std::string (*why_none)()) {
  if (kinds.empty()) return {};
  const std::string why = why_none();
  if (why.empty()) return {};
  return fmt::format("faults that need {}, which cannot be had here ({}): {}; ", what, why,
                     fmt::join(kinds, ", "));
}

}  // namespace

void check_possible(const Scenario& scenario, SeedRange range) {
  if (!scenario.is_training())
    throw UsageError(scenario.name() +
                     ": map/reduce jobs, and ranks that sum, are simulated only; omit --real");
  if (!std::filesystem::exists(RealJob::trainer()))
    throw UsageError(
        fmt::format("real jobs need the program {}, which is not there", RealJob::trainer()));
  std::set<std::string> of_network, of_disk;
  for (std::uint64_t seed = range.first;; ++seed) {
    for (const auto& fault : faults_of(scenario, seed)) {
      if (is_simulated_only(fault))
        throw UsageError(fmt::format("{}: the fault '{}' is simulated only; leave it out",
                                     scenario.name(), fault.to_string()));
      if (RealNetwork::is_of_network(fault.kind)) of_network.emplace(to_string(fault.kind));
      if (fault.kind == FaultKind::disk_full) of_disk.emplace(to_string(fault.kind));
    }
    if (seed == range.last) break;
  }
  const std::string why = why_not(of_network, "network namespaces with TUN devices", Lan::why_none) +
                          why_not(of_disk, "a file system in memory", MemoryDisk::why_none);
  if (!why.empty())
    throw UsageError(
        fmt::format("{}: {}run as root, or leave them out with kinds = kill,pause,slow in the file or "
                    "--set kinds=kill,pause,slow",
                    scenario.name(), why));
}

int jobs_at_once(const Scenario& scenario) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, cores / static_cast<int>(scenario.tasks().size()));
}

RehearsalSummary rehearse(const Scenario& scenario, const TrainReport& undisturbed, SeedRange range,
                          int at_once, const std::atomic<bool>& interrupted,
                          const std::function<void(const RehearsalSummary&)>& progress) {
  RehearsalSummary sum;
  std::deque<Running> running;
  std::uint64_t next = range.first;
  bool all_begun = false;
  for (auto next_progress = RealTime::now(); !interrupted && sum.failures.empty();) {
    for (; !all_begun && running.size() < static_cast<std::size_t>(at_once); ++next) {
      running.push_back(start(scenario, next));
      all_begun = next == range.last;
    }
    if (running.empty()) break;
    std::erase_if(running, [&](Running& job) { return has_ended(job, scenario, undisturbed, sum); });
    std::this_thread::sleep_for(tick);
    if (RealTime::now() < next_progress) continue;
    next_progress = RealTime::now() + progress_interval;
    progress(sum);
  }
  return sum;
}

}  // namespace actorflow
