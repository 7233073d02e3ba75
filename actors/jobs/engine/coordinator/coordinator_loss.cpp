// Tasks that are lost, and what has to be made again for that.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "actors/jobs/engine/coordinator/job_coordinator.h"

namespace actorflow {

// What a task could not say is unknown, and made again elsewhere; the task itself may go on. What is too
// large for a link is so each time.
void JobCoordinator::on_undelivered(int task, const Status& why) {
  spdlog::warn("{}: a message of {} did not come: {}", order_.mail->name_of(order_.mail->own()),
               order_.mail->name_of(task), why.message);
  lose(task);
  if (const unsigned lost = ++undelivered_[task]; lost >= order_.max_attempts)
    return fail({why.code, fmt::format("{} messages of {} did not come; the last one: {}", lost,
                                       order_.mail->name_of(task), why.message)});
  assign();
}

void JobCoordinator::on_lost(const PeerLost& lost) {
  const auto position = static_cast<int>(lost.task);
  const Task& task = task_at(position);
  if (task.incarnation == 0 || !lost.concerns({lost.task, task.incarnation})) return;
  if (!end_)  // a task that has been told of the end may go
    spdlog::warn("{}: {}; its parts run again elsewhere", order_.mail->name_of(order_.mail->own()),
                 lost.reason.message);
  lose(position);
  assign();
  reply_if_all_have_left();
}

void JobCoordinator::lose(int from) {
  renew_waits_of(from);
  Task& task = task_at(from);
  Task gone;
  gone.has_left = true;
  gone.before = task.incarnation != 0 ? task.incarnation : task.before;
  task = std::move(gone);
  catching_up_.erase(from);
  for (auto& [number, stage] : stages_) stage.tracker.lose_task(from);
  if (StageState* stage = running_stage()) {
    const auto wanted = [stage](std::size_t part) { return !stage->parts[part].on_disk; };
    for (std::size_t part = 0; part < stage->parts.size(); ++part)
      if (!stage->tracker.is_made(part) && wanted(part)) stage->parts[part].work = {};
    stage->tracker.remake_lost(wanted);
  }
  mend_wanted();
}

// A process that comes in the place of another one may do better, perhaps on another machine.
void JobCoordinator::forget_failures_of(int task) {
  undelivered_.erase(task);
  for (auto& [number, stage] : stages_) stage.forget_failures_of(task);
}

void JobCoordinator::mend_wanted() {
  if (StageState* current = running_stage()) mend(*current);
  for (const auto& [task, number] : catching_up_) mend(stages_.at(number));
}

// What the stage reads, and what that was made of, is made again as far as it is lost.
void JobCoordinator::mend(StageState& stage) {
  if (!stage.makes_parts()) return;
  for (const StageNumber number : stage.reads) {
    StageState& input = stages_.at(number);
    if (input.tracker.finished()) continue;
    input.tracker.remake_lost();
    mend(input);
  }
}

}  // namespace actorflow
