#include "bench/recovery/recovery_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "bench/harness.h"
#include "dataflow/values/error.h"

namespace actorflow::bench {
namespace {

constexpr double limit_s = 120;  // only ends a hang

std::vector<TaskName> all_tasks() {
  std::vector<TaskName> all;
  for (int i = 0; i < RecoveryJob::num_ps; ++i) all.push_back({"ps", i});
  for (int i = 0; i < RecoveryJob::num_workers; ++i) all.push_back({"worker", i});
  return all;
}

}  // namespace

RecoveryJob::RecoveryJob(bool sync, std::int64_t heartbeat_timeout_ms, bool machines)
    : network_(all_tasks(), machines) {
  const RecoveryOptions options{.sync = sync,
                                .insecure = machines,
                                .heartbeat_timeout_ms = heartbeat_timeout_ms,
                                .checkpoints = folder_.file("checkpoints")};
  for (std::size_t i = 0; i < network_.tasks().size(); ++i) {
    const TaskName& name = network_.tasks()[i];
    const std::string log = folder_.file(fmt::format("{}-{}.log", name.job, name.index));
    tasks_.emplace_back(name, network_.port(i), network_.on(i, command(i, options)), log);
    tasks_.back().start();
    logs_.emplace_back().file.open(log);
  }
}

std::string RecoveryJob::tf_config(const TaskName& task) const {
  std::vector<std::string> servers, workers;
  for (std::size_t i = 0; i < network_.tasks().size(); ++i)
    (network_.tasks()[i].job == "ps" ? servers : workers).push_back('"' + network_.address(i) + '"');
  return fmt::format(
      R"({{"cluster": {{"ps": [{}], "worker": [{}]}}, "task": {{"type": "{}", "index": {}}}}})",
      fmt::join(servers, ","), fmt::join(workers, ","), task.job, task.index);
}

std::vector<std::string> RecoveryJob::command(std::size_t task, const RecoveryOptions& options) const {
  std::vector<std::string> words{
      std::filesystem::read_symlink("/proc/self/exe").string(),
      "--recovery_task=" + tf_config(network_.tasks()[task]),
      "--recovery_checkpoints=" + options.checkpoints,
      fmt::format("--recovery_heartbeat_ms={}", options.heartbeat_timeout_ms)};
  if (options.sync) words.emplace_back("--recovery_sync");
  if (options.insecure) words.emplace_back("--recovery_insecure");
  return words;
}

RealTask& RecoveryJob::find(const TaskName& task) {
  return *std::ranges::find(tasks_, task, &RealTask::name);
}

void RecoveryJob::replace(const TaskName& task) {
  find(task).kill();
  find(task).start();
}

void RecoveryJob::cut_off(const TaskName& task) {
  FaultPlan cuts;
  for (const auto& other : network_.tasks())
    if (other != task) cuts.push_back({.kind = FaultKind::partition, .task = task, .other = other});
  network_.apply(cuts);
}

void RecoveryJob::look() {
  for (auto& task : tasks_) task.look(RealTask::RealTime::now());
  for (auto& log : logs_) read(log);
}

void RecoveryJob::read(Log& log) {
  log.file.clear();
  for (std::string line; std::getline(log.file, line); log.rest.clear()) {
    line = log.rest + line;
    if (log.file.eof()) {
      log.rest = line;
      return;
    }
    take_line(log, line);
  }
}

void RecoveryJob::take_line(Log& log, const std::string& line) {
  std::istringstream words(line);
  char mark = 0;
  std::int64_t ns = 0;
  if (!(words >> mark >> ns)) return;
  const double time = static_cast<double>(ns) / 1e9;
  if (mark == step_mark) log.steps.push_back(time);
  if (mark == warning_mark) log.warnings.emplace_back(time, line);
}

template <class Condition>
void RecoveryJob::wait_for(const std::string& what, Condition&& condition) {
  for (const double end = now() + limit_s; !condition(); look()) {
    if (now() > end) {
      std::string last;
      for (const auto& task : tasks_)
        last += fmt::format("\n{}: {}", task.describe(), task.last_lines());
      throw Error(Code::deadline_exceeded, fmt::format("recovery: no {}{}", what, last));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void RecoveryJob::wait_for_steps(double since, std::size_t steps) {
  const auto has_made_them = [&](int worker) {
    const auto& made = log_of(worker).steps;
    return static_cast<std::size_t>(made.end() - std::ranges::upper_bound(made, since)) >= steps;
  };
  for (int worker = 0; worker < num_workers; ++worker)
    wait_for(fmt::format("steps of worker {}", worker), [&] { return has_made_them(worker); });
}

double RecoveryJob::wait_until_missed(const TaskName& task, double since) {
  double missed = 0;
  const std::string name = task.to_string();
  const auto is_about_it = [&](const std::pair<double, std::string>& warning) {
    return warning.first > since && warning.second.find("has said nothing") != std::string::npos &&
           warning.second.find(name + " at ") != std::string::npos;
  };
  wait_for("word of the loss of " + name, [&] {
    for (const auto& log : logs_)
      if (const auto found = std::ranges::find_if(log.warnings, is_about_it);
          found != log.warnings.end())
        missed = missed == 0 ? found->first : std::min(missed, found->first);
    return missed > 0;
  });
  return missed;
}

double RecoveryJob::longest_gap(int worker, double since) const {
  double gap = 0, before = since;
  for (const double step : log_of(worker).steps) {
    if (step <= since) continue;
    gap = std::max(gap, step - before);
    before = step;
  }
  return gap;
}

double RecoveryJob::median_step(int worker, double until) const {
  const auto& steps = log_of(worker).steps;
  std::vector<double> gaps;
  for (std::size_t i = 1; i < steps.size() && steps[i] < until; ++i)
    gaps.push_back(steps[i] - steps[i - 1]);
  return gaps.empty() ? 0 : median(std::move(gaps));
}

}  // namespace actorflow::bench
