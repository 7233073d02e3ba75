// Parts that one task alone runs, since what they keep is for that task: it is waited for, and one that
// comes in its place has them made again.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "actors/jobs/engine/coordinator/job_coordinator.h"
#include "actors/probes/point.h"

namespace actorflow {
namespace {

Point caught_up("what a task alone keeps is made again for the one in its place");

}  // namespace

bool JobCoordinator::lacks_own(const Stage& stage, int task) {
  if (!stage.spec) return false;  // nobody can make it any more
  const auto& owners = stage.spec->owners;
  for (std::size_t part = 0; part < owners.size(); ++part)
    if (owners[part] == task && !stage.tracker.is_made(part)) return true;
  return false;
}

// The end of a stage, for a task that has come to it: once what it alone keeps is there.
void JobCoordinator::say_done(int task, StageNumber number, Stage& stage) {
  if (!stage.done->status.ok() || !lacks_own(stage, task)) {
    catching_up_.erase(task);
    return order_.mail->to_agent(task, *stage.done);
  }
  if (catching_up_.emplace(task, number).second) caught_up.hit();
  stage.tracker.remake_lost([&](std::size_t part) { return stage.spec->owners[part] == task; });
  mend(stage);
  assign();
}

// The task's program has come to a later stage, or to what it was waited for: the waits for that begin
// anew.
void JobCoordinator::come_nearer(int task) {
  if (ending_) end_wait_->restart(now());
  for (auto& [number, stage] : stages_)
    for (auto& [part, lacks] : stage.lacks)
      if (const auto own = lacks.find({number, part});
          own != lacks.end() && own->second.of.contains(task))
        own->second.wait.restart(now());
}

// False if an owner has been gone, or its program has been elsewhere, for too long: then the job has
// failed. Also of what the stage reads, as far as that is made again.
bool JobCoordinator::look_after_owners(StageNumber number, Stage& stage) {
  for (std::size_t part = 0; part < stage.spec->owners.size(); ++part)
    if (!wait_for_owner(number, stage, part)) return false;
  if (!makes_parts(stage)) return true;
  for (const StageNumber read : stage.reads) {
    Stage& input = stages_.at(read);
    if (input.spec && !input.tracker.finished() && !look_after_owners(read, input)) return false;
  }
  return true;
}

bool JobCoordinator::wait_for_owner(StageNumber number, Stage& stage, std::size_t part) {
  if (stage.tracker.is_made(part)) return true;
  const int owner = stage.spec->owners[part];
  const Task& task = tasks_[static_cast<std::size_t>(owner)];
  const bool is_at_it = task.ready >= number;
  if (is_at_it || (catching_up_.contains(owner) && anything_is_under_way())) come_nearer(owner);
  if (is_at_it) return true;
  Lack& lack = lack_of(stage, part, {number, part}, now());
  lack.of.insert(owner);
  const bool is_here = task.incarnation != 0 && !lack.wait.was_renewed_too_often();
  const std::string why =
      fmt::format("{}: waited {:.0f} s for {}, for which part {} of {} is{}", stage.spec->name,
                  lack.wait.seconds(now()), order_.mail->name_of(owner), part, stage.spec->parts,
                  is_here ? where_program_is(task, number) : "");
  if (lack.wait.is_over(now(), is_here ? order_.program_patience : order_.patience)) {
    const char* const help = is_here ? "see what it does before this stage, or give it more time with "
                                       "--program_timeout_ms"
                                     : "start that task, and see why it ends if it has been there";
    fail({Code::unavailable, fmt::format("{}: {}", why, help)});
    return false;
  }
  if (lack.wait.is_to_be_said(now())) spdlog::warn("{}", why);
  return true;
}

std::string JobCoordinator::where_program_is(const Task& task, StageNumber awaited) const {
  return fmt::format(", and which is there: but its program has come to {} of the job{}, not to run {}",
                     task.ready == 0 ? "no stage" : fmt::format("stage run {}", task.ready),
                     order_.job.empty() ? "" : fmt::format(" '{}'", order_.job), awaited);
}

}  // namespace actorflow
