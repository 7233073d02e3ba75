#include "apps/scenario/simulate_records.h"

#include <algorithm>
#include <string>

#include "actors/simulation/sim_storage.h"
#include "apps/scenario/scenario_jobs.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr const char* output = "output";
constexpr const char* work_folder = "work";

JobOptions job_options_of(const Scenario& scenario) {
  const ScenarioFlags& flags = scenario.flags();
  JobOptions options;
  options.parameters = find_scenario_job(flags.job).parameters;
  options.threads = 2;
  options.memory_bytes = std::size_t{128} << 20;
  options.split_bytes = static_cast<std::uint64_t>(flags.split_bytes);
  options.partitions = static_cast<std::size_t>(flags.partitions);
  options.records_on_disk = true;  // all records between stages
  options.spill_folder = "spill";
  options.overwrite = true;
  if (flags.resume) options.work_folder = work_folder;
  options.resume = flags.resume;
  return options;
}

bool has_succeeded(Storage& storage) { return storage.exists(std::string(output) + "/_SUCCESS"); }

// A task that comes back when the job has ended finds nobody who knows it, and maybe a journal that a
// bad disk has kept. Only the first one always has counters: one that comes when it has just ended has
// none.
void run_task(SimTask& task, const Scenario& scenario, SimulatedJob& job) {
  for (const auto& [name, bytes] : scenario.input())
    if (const std::string path = "input/" + name; !task.storage().exists(path))
      task.storage().write_atomically(path, bytes);
  if (has_succeeded(task.storage()) && task.storage().list(work_folder).empty()) return;
  const bool is_first = task.server().name() == scenario.tasks().front();
  try {
    auto counters =
        run_job(task.server(), scenario_job_table(), scenario.flags().job, job_options_of(scenario));
    if (is_first || !counters.empty()) job.counters.push_back(std::move(counters));
  } catch (const Error& error) {
    if (error.code() != Code::unavailable || !has_succeeded(task.storage())) throw;
  }
}

SimulatedJob::Files files_of(Storage& storage) {
  SimulatedJob::Files files;
  for (const auto& name : storage.list(output))
    files[name] = storage.read(std::string(output) + "/" + name);
  return files;
}

}  // namespace

SimulatedJob simulate_records(const Scenario& scenario, const SimOptions& options,
                              const FaultPlan& faults) {
  SimulatedJob job;  // outlives the tasks
  SimCluster sim(scenario.jobs(), options);
  auto programs = sim.start([&](SimTask& task) { run_task(task, scenario, job); });
  sim.apply(faults);
  programs.finish();
  sim.storage().files().set_failures(0);  // the job may have ended before its last fault
  job.files = files_of(sim.storage());
  job.statistics = sim.statistics();
  job.trace_hash = sim.trace_hash();
  job.last_lines = sim.last_lines();
  return job;
}

}  // namespace actorflow
