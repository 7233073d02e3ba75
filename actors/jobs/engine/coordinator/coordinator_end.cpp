// The end of a job: tasks that are here, and still come to what they alone keep, are waited for; then
// all are told.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "actors/jobs/engine/coordinator/job_coordinator.h"
#include "actors/probes/point.h"

namespace actorflow {
namespace {

constexpr double seconds_to_leave = 5;

Point waited("a job that has ended waits for a task that gets what it alone keeps");

}  // namespace

void JobCoordinator::end(const EndJob& how) {
  ending_ = how;
  end_wait_.emplace(now());
  end_when_all_have_their_own();
}

// A task that lacks something which only it keeps, of a stage that is over and to which its program has
// yet to come; and the stage. Its program has what was kept of stages that it has left behind, even if
// it was out of reach since.
std::optional<std::pair<int, StageNumber>> JobCoordinator::one_without_its_own() const {
  for (int task = 0; task < order_.mail->tasks(); ++task) {
    const Task& known = task_at(task);
    if (known.incarnation == 0 || task == order_.mail->own()) continue;
    for (const auto& [number, stage] : stages_)
      if (known.ready <= number && stage.done && stage.lacks_own(task)) return std::pair(task, number);
  }
  return std::nullopt;
}

bool JobCoordinator::anything_is_under_way() const {
  return std::ranges::any_of(stages_, [](const auto& each) {
    const StageTracker& tracker = each.second.tracker;
    return !tracker.runs().empty() || tracker.has_paused();
  });
}

void JobCoordinator::end_when_all_have_their_own() {
  if (!ending_) return;
  const bool waits = ending_->status.ok() && !*order_.stopped;
  const auto without = waits ? one_without_its_own() : std::nullopt;
  if (!without) return tell_all();
  waited.hit();
  // An attempt, and the pauses before the last one, have bounds of their own.
  if (anything_is_under_way()) end_wait_->restart(now());
  const auto& [task, number] = *without;
  const std::string why = fmt::format(
      "the job is done, but {} does not have its own part of stage run {}, {}, yet: waited {:.0f} s",
      order_.mail->name_of(task), number, stages_.at(number).spec->name, end_wait_->seconds(now()));
  if (is_over(*end_wait_)) {
    spdlog::warn("{}; it ends without", why);
    return tell_all();
  }
  if (end_wait_->is_to_be_said(now())) spdlog::warn("{}", why);
}

void JobCoordinator::tell_all() {
  end_ = std::exchange(ending_, std::nullopt);
  ended_ = now();
  for (int task = 0; task < order_.mail->tasks(); ++task)
    if (task != order_.mail->own()) order_.mail->to_agent(task, end_of(task));
  reply_if_all_have_left();
}

JobEnded JobCoordinator::end_of(int task, std::uint64_t to) const {
  const auto own = last_own_.find(task);
  return {end_->status, to, own == last_own_.end() ? StageNumber{0} : own->second};
}

// One that is started late, or whom the news does not reach before this process ends, would otherwise
// wait for a job that is over.
void JobCoordinator::reply_if_all_have_left() {
  if (!end_ || !end_->reply) return;
  const auto missing = std::ranges::find(tasks_, false, &Task::has_left);
  const bool late = now() - ended_ > seconds_to_leave;
  if (late && missing != tasks_.end())
    spdlog::warn("{} has not {} in {:.0f} s; it may not know that the job has ended",
                 order_.mail->name_of(static_cast<int>(missing - tasks_.begin())),
                 missing->incarnation == 0 ? "come" : "answered", seconds_to_leave);
  if (missing == tasks_.end() || late) std::exchange(end_->reply, nullptr)();
}

}  // namespace actorflow
