#include "apps/scenario/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "actors/simulation/seeds.h"
#include "apps/scenario/simulate_ranks.h"
#include "apps/scenario/simulate_records.h"
#include "apps/training/train_replica.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

SimOptions options_of(const Scenario& scenario) {
  SimOptions options;
  options.links.latency = std::chrono::nanoseconds(scenario.flags().latency);
  options.links.bytes_per_second = scenario.flags().bytes_per_second;
  options.longest_kernel = std::chrono::nanoseconds(scenario.flags().kernel_time);
  options.time_limit = std::chrono::nanoseconds(scenario.flags().time_limit);
  options.restart_failed = restart_pause;
  return options;
}

SimulatedJob train(const Scenario& scenario, const SimOptions& options, const FaultPlan& faults) {
  static const std::atomic<bool> never{false};
  TrainOptions train = scenario.train();
  train.checkpoint_folder = "checkpoints";
  SimulatedJob job;
  bool reported = false;
  SimCluster sim(scenario.jobs(), options);
  auto programs = sim.start([&](SimTask& task) {
    if (task.server().name().job == "ps") {
      serve_parameters(task.server(), train);
    } else if (auto report = train_replica(task.server(), scenario.data(), train, never, nullptr)) {
      job.report = std::move(*report);
      reported = true;
    }
  });
  sim.apply(faults);
  programs.finish();
  if (!reported) throw Error(Code::internal, "all tasks have ended, but no chief has reported");
  job.statistics = sim.statistics();
  job.trace_hash = sim.trace_hash();
  job.last_lines = sim.last_lines();
  return job;
}

SimulatedJob run(const Scenario& scenario, const SimOptions& options, const FaultPlan& faults) {
  if (scenario.has_ranks()) return simulate_ranks(scenario, options, faults);
  return scenario.is_training() ? train(scenario, options, faults)
                                : simulate_records(scenario, options, faults);
}

void check_files(const SimulatedJob::Files& files, const SimulatedJob::Files& undisturbed) {
  for (const auto* some : {&files, &undisturbed})
    for (const auto& [name, bytes] : *some)
      if (!files.contains(name) || !undisturbed.contains(name) || files.at(name) != undisturbed.at(name))
        throw Error(Code::internal, "the file '" + name + "' is not that of the undisturbed task");
}

std::string text_of(const SimulatedJob::Counters& counters) {
  std::string text;
  for (const auto& [name, count] : counters)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  return text.empty() ? "none" : text;
}

// What is made again, or was made in vain, counts once.
void check_counters(const SimulatedJob& job, const SimulatedJob& undisturbed) {
  const auto& expected = undisturbed.counters.at(0);
  for (const auto& counters : job.counters)
    if (counters != expected)
      throw Error(Code::internal,
                  fmt::format("a task was told other counters than the undisturbed one: {}, expected {}",
                              text_of(counters), text_of(expected)));
}

void check(const Scenario& scenario, const SimulatedJob& job, const SimulatedJob& undisturbed) {
  if (scenario.is_training()) return scenario.check(job.report, undisturbed.report);
  if (scenario.has_ranks()) return;  // has checked its sums
  check_counters(job, undisturbed);
  check_files(job.files, undisturbed.files);
}

}  // namespace

SimulatedJob simulate_undisturbed(const Scenario& scenario) {
  SimOptions options = options_of(scenario);
  if (scenario.has_ranks()) return {};  // a loop over the ranks says what must come out
  if (!scenario.is_training()) return simulate_records(scenario.on_one_task(), options, {});
  if (is_synchronous(scenario.train().strategy)) return train(scenario, options, {});
  std::vector<SimulatedJob> jobs;
  for (options.seed = 1; options.seed <= 5; ++options.seed) jobs.push_back(train(scenario, options, {}));
  const auto middle = jobs.begin() + 2;
  std::ranges::nth_element(jobs, middle, {},
                           [](const SimulatedJob& job) { return job.report.test_accuracy; });
  return *middle;
}

SimulatedJob simulate(const Scenario& scenario, const SimulatedJob& undisturbed) {
  const SimOptions options = of_this_seed(options_of(scenario));
  SimulatedJob job = run(scenario, options, scenario.faults(options.seed));
  try {
    check(scenario, job, undisturbed);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}\n{}", error.what(), job.last_lines));
  }
  return job;
}

}  // namespace actorflow
