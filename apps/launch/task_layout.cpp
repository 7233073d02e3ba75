#include "apps/launch/task_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

void check(const JobSpec& spec) {
  if (spec.command.empty() || spec.command[0].empty())
    throw invalid_argument("expected the program to launch, for example: launch -np 4 PROGRAM ARGS...");
  if (spec.workers < 1)
    throw invalid_argument(fmt::format("-np is {}, but must be at least 1", spec.workers));
  if (spec.ps < 0 || spec.restarts < 0 || spec.num_gpus.value_or(0) < 0)
    throw invalid_argument("--ps, --restarts and --num_gpus must be at least 0");
}

// Where more slots can be had.
std::string more_slots(const JobSpec& spec, int missing) {
  const LaunchHost& last = spec.hosts.back();
  if (last.is_allocated)
    return fmt::format("have Slurm allocate more, as in salloc -n {}", spec.workers);
  return fmt::format("name more hosts or slots, as in -H {}:{}", last.to_string(), last.slots + missing);
}

// How many workers each host runs.
std::vector<int> workers_of_hosts(const JobSpec& spec) {
  if (spec.hybrid) return std::vector<int>(static_cast<std::size_t>(num_hosts(spec)), 1);
  if (spec.hosts.empty()) return {spec.workers};
  std::vector<int> counts;
  int left = spec.workers;
  for (const auto& host : spec.hosts) {
    counts.push_back(std::min(left, host.slots));
    left -= counts.back();
  }
  if (left > 0)
    throw invalid_argument(
        fmt::format("Requested more processes ({}) than there are available slots ({}); {}",
                    spec.workers, spec.workers - left, more_slots(spec, left)));
  return counts;
}

// The GPUs of a host, 0 to num_gpus - 1, in parts that differ by one at most.
std::optional<std::vector<int>> gpus_of(const JobSpec& spec, const RankNumbers& rank) {
  if (!spec.num_gpus) return {};
  const int all = *spec.num_gpus, parts = rank.local_world_size;
  if (all > 0 && all < parts)
    throw invalid_argument(
        fmt::format("{} workers on a host cannot divide its GPUs: --num_gpus is {}", parts, all));
  const int first = all * rank.local_rank / parts, end = all * (rank.local_rank + 1) / parts;
  std::vector<int> gpus(static_cast<std::size_t>(end - first));
  std::iota(gpus.begin(), gpus.end(), first);
  return gpus;
}

// A task that is no rank; where GPUs are divided it computes on the CPU.
LaunchedTask without_rank(const JobSpec& spec, TaskName name, int host) {
  LaunchedTask task{.name = std::move(name), .host = host, .rank = {}, .gpus = {}};
  if (spec.hybrid || spec.num_gpus) task.gpus.emplace();
  return task;
}

RankNumbers numbers_of(const std::vector<int>& workers, std::size_t host, int local) {
  RankNumbers numbers{.local_rank = local, .local_world_size = workers[host]};
  numbers.rank = std::accumulate(workers.begin(), workers.begin() + static_cast<int>(host), local);
  numbers.world_size = std::accumulate(workers.begin(), workers.end(), 0);
  numbers.cross_size = numbers.group_world_size = 0;
  for (std::size_t other = 0; other < workers.size(); ++other) {
    numbers.cross_size += workers[other] > local;
    numbers.cross_rank += other < host && workers[other] > local;
    numbers.group_world_size += workers[other] > 0;
    numbers.group_rank += other < host && workers[other] > 0;
  }
  return numbers;
}

void add_ranks(const JobSpec& spec, std::vector<LaunchedTask>& tasks) {
  const std::vector<int> workers = workers_of_hosts(spec);
  for (std::size_t host = 0; host < workers.size(); ++host)
    for (int local = 0; local < workers[host]; ++local) {
      const RankNumbers numbers = numbers_of(workers, host, local);
      TaskName name{"worker", numbers.rank - (spec.chief ? 1 : 0)};
      if (spec.chief && numbers.rank == 0) name = {"chief", 0};
      tasks.push_back({.name = std::move(name),
                       .host = static_cast<int>(host),
                       .rank = numbers,
                       .gpus = gpus_of(spec, numbers)});
    }
}

}  // namespace

std::string LaunchHost::to_string() const {
  const std::string shown = name.find(':') == name.npos ? name : "[" + name + "]";
  return user.empty() ? shown : user + "@" + shown;
}

int num_hosts(const JobSpec& spec) { return std::max(1, static_cast<int>(spec.hosts.size())); }

std::vector<LaunchedTask> lay_out(const JobSpec& spec) {
  check(spec);
  std::vector<LaunchedTask> tasks;
  const int servers = spec.hybrid ? num_hosts(spec) : spec.ps;
  for (int i = 0; i < servers; ++i) tasks.push_back(without_rank(spec, {"ps", i}, i % num_hosts(spec)));
  add_ranks(spec, tasks);
  if (spec.evaluator) tasks.push_back(without_rank(spec, {"evaluator", 0}, num_hosts(spec) - 1));
  return tasks;
}

}  // namespace actorflow
