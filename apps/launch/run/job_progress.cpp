#include "apps/launch/run/job_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace actorflow {
namespace {

constexpr int wrong_arguments = 2, interrupted = 130;

// Why a failed task is not started again; "" if it may be.
std::string why_not_again(const TaskEnd& end, bool alive, int restarts, int left) {
  if (restarts == 0 || !end.why.empty() || end.status == interrupted) return "none";
  if (end.status == wrong_arguments) return "; wrong arguments, so it is not started again";
  if (!alive) return "; that was before its first step, so it is not started again";
  return left > 0 ? "" : fmt::format("; all {} restarts are used", restarts);
}

}  // namespace

std::string TaskEnd::to_string() const {
  if (!why.empty()) return "could not be started: " + why;
  if (signal) return fmt::format("was killed by signal {} ({})", signal, strsignal(signal));
  return fmt::format("ended with status {}", status);
}

JobProgress::JobProgress(std::vector<LaunchedTask> tasks, int restarts)
    : tasks_(std::move(tasks)), states_(tasks_.size()), restarts_(restarts), left_(restarts) {}

int JobProgress::add(LaunchedTask task) {
  tasks_.push_back(std::move(task));
  states_.emplace_back();
  return static_cast<int>(tasks_.size()) - 1;
}

const LaunchedTask& JobProgress::restarted(int task) {
  at(task) = {};
  LaunchedTask& again = tasks_.at(static_cast<std::size_t>(task));
  ++again.restart;
  return again;
}

Consequence JobProgress::ended(int task, const TaskEnd& end, std::string& says) {
  State& state = at(task);
  state.is_running = false;
  says.clear();
  if (end.status == 0) return Consequence::none;
  says = end.to_string();
  const std::string why = why_not_again(end, state.alive, restarts_, left_);
  if (!why.empty()) {
    if (why != "none") says += why;
    return goes_on_ ? Consequence::go_on : Consequence::end_job;
  }
  --left_;
  says += fmt::format("; starting it again, {} of {} restarts {} left", left_, restarts_,
                      left_ == 1 ? "is" : "are");
  return Consequence::start_again;
}

bool JobProgress::work_is_done() const {
  for (std::size_t i = 0; i < tasks_.size(); ++i)
    if (states_[i].is_running && tasks_[i].name.job != "ps") return false;
  return true;
}

bool JobProgress::all_have_ended() const {
  return std::ranges::none_of(states_, [](const State& state) { return state.is_running; });
}

}  // namespace actorflow
