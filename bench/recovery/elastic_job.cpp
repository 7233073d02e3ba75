#include "bench/recovery/elastic_job.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "bench/program.h"
#include "bench/recovery/elastic_task.h"
#include "bench/recovery/recovery_job.h"
#include "dataflow/values/error.h"

namespace actorflow::bench {
namespace {

constexpr double longest_wait_s = 120;  // only ends a hang

std::vector<std::string> launch_command() {
  return {path_of_program("actorflow"),
          "launch",
          "-np",
          std::to_string(ElasticRecoveryJob::num_tasks),
          "--min",
          "2",
          "--restarts",
          "100",
          std::filesystem::read_symlink("/proc/self/exe").string(),
          "--recovery_elastic"};
}

}  // namespace

ElasticRecoveryJob::ElasticRecoveryJob() : launcher_(launch_command(), log_name_) {}

void ElasticRecoveryJob::kill(int task) {
  look();
  ::kill(tasks_[static_cast<std::size_t>(task)].process, SIGKILL);
}

void ElasticRecoveryJob::look() {
  if (!log_.is_open()) log_.open(log_name_);
  log_.clear();
  for (std::string line; std::getline(log_, line); rest_.clear()) {
    line = rest_ + line;
    if (log_.eof()) {
      rest_ = line;
      return;
    }
    take_line(line);
  }
}

// "worker 1 | @ 123456 17", as the launcher passes on the lines of its tasks.
void ElasticRecoveryJob::take_line(const std::string& line) {
  std::istringstream words(line);
  std::string role, bar;
  std::size_t number = 0;
  char mark = 0;
  std::int64_t value = 0;
  if (!(words >> role >> number >> bar >> mark >> value) || role != "worker" || number >= tasks_.size())
    return;
  if (mark == process_mark) tasks_[number].process = static_cast<pid_t>(value);
  if (mark == step_mark) tasks_[number].steps.push_back(static_cast<double>(value) / 1e9);
}

void ElasticRecoveryJob::wait_for_steps(double since, std::size_t steps) {
  const auto has_made_them = [&](const Task& task) {
    const auto after = std::ranges::upper_bound(task.steps, since);
    return static_cast<std::size_t>(task.steps.end() - after) >= steps;
  };
  for (const double end = RecoveryJob::now() + longest_wait_s;
       !std::ranges::all_of(tasks_, has_made_them); look()) {
    if (RecoveryJob::now() > end || launcher_.status())
      throw Error(Code::deadline_exceeded,
                  "elastic recovery: not all tasks make steps; see " + log_name_);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

double ElasticRecoveryJob::longest_gap(int task, double since) const {
  double gap = 0, before = since;
  for (const double step : tasks_[static_cast<std::size_t>(task)].steps) {
    if (step <= since) continue;
    gap = std::max(gap, step - before);
    before = step;
  }
  return gap;
}

}  // namespace actorflow::bench
