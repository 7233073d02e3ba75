#include "apps/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "actors/runtime/storage.h"
#include "apps/cli/data_folder.h"
#include "apps/cli/program.h"
#include "apps/scenario/scenario_jobs.h"
#include "apps/scenario/scenario_options.h"
#include "apps/scenario/simulate_ranks.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

// Of a job, its own or what is given for it.
ScenarioFiles read_input(const ScenarioJob& job, const std::string& given) {
  if (job.input && !given.empty())
    throw UsageError("input: the job has an input of its own; omit it");
  if (job.input) return job.input();
  ScenarioFiles files;
  if (const fs::path path = data_folder(given); fs::is_directory(path))
    for (const auto& entry : fs::directory_iterator(path))
      files[entry.path().filename().string()] = posix_storage().read(entry.path().string());
  if (files.empty()) throw UsageError("input: there is no folder of files '" + given + "'");
  return files;
}

}  // namespace

Scenario::Scenario(std::string name, const ScenarioFlags& flags)
    : name_(std::move(name)), flags_(flags), train_(flags.train.options()) {
  if (flags.same_weights && !is_synchronous(train_.strategy))
    throw UsageError("--same_weights is for synchronous training: every run differs without --sync");
  if (has_ranks() && !flags.job.empty())
    throw UsageError("a scenario has a job or ranks that sum; omit --job or --ranks");
  check_algorithm(flags.algorithm);
  check_usage([&] {
    for (const auto& text : flags.faults)
      for (auto& fault : parse_fault_plan(text)) fixed_.push_back(std::move(fault));
    check_faults(fixed_, tasks());
    random_ = {.count = flags.random_faults,
               .until = std::chrono::nanoseconds(flags.faults_until),
               .longest = std::chrono::nanoseconds(flags.longest_fault)};
    if (!flags.kinds.empty()) random_.kinds.clear();
    for (const auto& kind : flags.kinds) random_.kinds.push_back(parse_fault_kind(kind));
  });
  train_.checkpoint_folder.clear();
  train_.mark_end = true;
  if (is_training())
    data_ = flags.train.load(train_, flags.workers);
  else if (!has_ranks())
    input_ = read_input(find_scenario_job(flags.job), flags.input);
}

Scenario Scenario::read(const std::string& path, const std::vector<std::string>& settings) {
  ScenarioFlags flags;
  CommandLine line("A scenario");
  flags.add_to(line);
  line.read_file(path);
  try {
    std::vector<std::string> arguments;
    for (const auto& setting : settings) arguments.push_back("--" + setting);
    line.parse(std::move(arguments));
    check_options(flags, line.given_options());
    return {fs::path(path).stem().string(), flags};
  } catch (const CommandLineError& error) {
    throw UsageError(fmt::format("{}: {}; `actorflow help simulate` lists what a scenario may say", path,
                                 error.what()));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", path, error.what()));
  }
}

Scenario Scenario::on_one_task() const {
  ScenarioFlags flags = flags_;
  flags.tasks = 1;
  flags.faults.clear();
  flags.random_faults = 0;
  return {name_, flags};
}

Scenario Scenario::on_real_processes() const {
  if (flags_.real_train_steps == 0) return *this;
  ScenarioFlags flags = flags_;
  flags.train.train_steps = flags.real_train_steps;
  flags.train.epochs.reset();
  return {name_, flags};
}

std::vector<SimCluster::Job> Scenario::jobs() const {
  if (has_ranks()) return {{"worker", flags_.ranks}};
  if (!is_training()) return {{"worker", flags_.tasks}};
  return {{"ps", flags_.ps}, {"worker", flags_.workers}};
}

std::vector<TaskName> Scenario::tasks() const {
  std::vector<TaskName> tasks;
  for (const auto& job : jobs())
    for (int i = 0; i < job.tasks; ++i) tasks.push_back({job.name, i});
  return tasks;
}

FaultPlan Scenario::faults(std::uint64_t seed) const {
  FaultPlan plan = fixed_;
  if (random_.count > 0)
    std::ranges::move(random_fault_plan(seed, tasks(), random_), std::back_inserter(plan));
  std::ranges::stable_sort(plan, {}, &Fault::at);
  return plan;
}

void Scenario::check(const TrainReport& report, const TrainReport& undisturbed) const {
  if (report.global_step < train_.train_steps)
    throw Error(Code::internal,
                fmt::format("training ended at step {} of {}", report.global_step, train_.train_steps));
  if (report.uneven_updates != 0)
    throw Error(Code::internal,
                fmt::format("for {} pairs of replica and variable an update was lost or applied twice",
                            report.uneven_updates));
  if (flags_.same_weights && report.weights_hash != undisturbed.weights_hash)
    throw Error(Code::internal, fmt::format("the weights are {:016x}, but {:016x} without faults",
                                            report.weights_hash, undisturbed.weights_hash));
  const double points = 100 * (undisturbed.test_accuracy - report.test_accuracy);
  if (flags_.accuracy_within >= 0 && points > flags_.accuracy_within)
    throw Error(Code::internal,
                fmt::format("the test accuracy is {:.2f} %, but {:.2f} % without faults",
                            100 * report.test_accuracy, 100 * undisturbed.test_accuracy));
}

std::vector<std::string> own_scenarios() {
  std::vector<std::string> paths;
  const std::string folder = default_data_folder("../scenarios");
  if (folder.empty())
    throw UsageError("the project's scenarios are not beside the program; name scenario files");
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".scenario") paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  return paths;
}

}  // namespace actorflow
