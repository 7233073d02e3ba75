// How long an elastic job takes to go on when one of its tasks is killed: until the others make steps,
// and until the process that the launcher starts in its place does. The worst of a few times against
// what test/README.md's faults may take.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "bench/harness.h"
#include "bench/recovery/elastic_job.h"
#include "bench/recovery/recovery_job.h"

namespace actorflow::bench {
namespace {

// Seconds, one for each kill.
struct ElasticTimes {
  std::vector<double> others;  // for which the tasks that live made no step
  std::vector<double> joins;   // from the kill to the first step of the next process
};

constexpr int killed = 1;
// The heartbeat timeout, H.
constexpr double heartbeat_timeout_s = 5;

void kill_once(ElasticRecoveryJob& job, ElasticTimes& times) {
  constexpr std::size_t few_steps = 50;
  job.wait_for_steps(RecoveryJob::now(), few_steps);
  const double since = RecoveryJob::now();
  job.kill(killed);
  job.wait_for_steps(since + heartbeat_timeout_s / 100, few_steps);
  double others = 0;
  for (int task = 0; task < ElasticRecoveryJob::num_tasks; ++task)
    if (task != killed) others = std::max(others, job.longest_gap(task, since));
  times.others.push_back(others);
  times.joins.push_back(job.longest_gap(killed, since));
}

ElasticTimes measure_kills(bool quick) {
  ElasticRecoveryJob job;
  ElasticTimes times;
  for (int round = 0; round < (quick ? 1 : 5); ++round) kill_once(job, times);
  return times;
}

}  // namespace

std::vector<Benchmark> elastic_benchmarks() {
  const auto measured = std::make_shared<std::optional<ElasticTimes>>();
  const auto row = [&](const char* name, const char* words, std::vector<double> ElasticTimes::*of_what) {
    return Benchmark{
        name, "s", words, at_most(1), [=](bool quick) {
          if (!*measured) *measured = measure_kills(quick);
          return Measurement{std::ranges::max((**measured).*of_what), heartbeat_timeout_s + 2};
        }};
  };
  return {row("recovery/kill_worker_elastic_others", "the others go on within H + 2 s",
              &ElasticTimes::others),
          row("recovery/kill_worker_elastic_joins", "a task that comes back trains within H + 2 s",
              &ElasticTimes::joins)};
}

}  // namespace actorflow::bench
