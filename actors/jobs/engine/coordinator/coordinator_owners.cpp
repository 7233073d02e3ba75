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

// The end of a stage, for a task that has come to it: once what it alone keeps is there.
void JobCoordinator::say_done(int task, StageState& stage) {
  if (!stage.done->status.ok() || !stage.lacks_own(task)) {
    catching_up_.erase(task);
    return order_.mail->to_agent(task, *stage.done);
  }
  if (catching_up_.emplace(task, stage.number).second) caught_up.hit();
  stage.tracker.remake_lost([&](std::size_t part) { return stage.spec->owners[part] == task; });
  mend(stage);
  assign();
}

// The task's program has come to a later stage, or to what it was waited for: the waits for that begin
// anew.
void JobCoordinator::come_nearer(int task) {
  if (ending_) end_wait_->restart(now());
  for (auto& [number, stage] : stages_) {
    if (!stage.spec) continue;
    for (std::size_t part = 0; part < stage.spec->owners.size(); ++part)
      if (const auto own = stage.parts[part].waits.find({number, part});
          own != stage.parts[part].waits.end() && own->second.tasks.contains(task))
        own->second.wait.restart(now());
  }
}

// False if an owner has been gone, or its program has been elsewhere, for too long: then the job has
// failed. Also of what the stage reads, as far as that is made again.
bool JobCoordinator::look_after_owners(StageState& stage) {
  for (std::size_t part = 0; part < stage.spec->owners.size(); ++part)
    if (!wait_for_owner(stage, part)) return false;
  if (!stage.makes_parts()) return true;
  for (const StageNumber read : stage.reads) {
    StageState& input = stages_.at(read);
    if (input.spec && !input.tracker.finished() && !look_after_owners(input)) return false;
  }
  return true;
}

bool JobCoordinator::wait_for_owner(StageState& stage, std::size_t part) {
  if (stage.tracker.is_made(part)) return true;
  const int owner = stage.spec->owners[part];
  const Task& task = task_at(owner);
  const bool is_at_it = task.ready >= stage.number;
  if (is_at_it || (catching_up_.contains(owner) && anything_is_under_way())) come_nearer(owner);
  if (is_at_it) return true;
  LackWait& lack = stage.parts[part].wait_on({stage.number, part}, now());
  lack.tasks.insert(owner);
  const bool is_here = task.incarnation != 0 && !lack.wait.was_renewed_too_often();
  const std::string why =
      fmt::format("{}: waited {:.0f} s for {}, for which part {} of {} is{}", stage.spec->name,
                  lack.wait.seconds(now()), order_.mail->name_of(owner), part, stage.spec->parts,
                  is_here ? where_program_is(task, stage.number) : "");
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
