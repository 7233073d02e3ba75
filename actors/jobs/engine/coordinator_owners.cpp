// Parts that one task alone runs, since what they keep is for that task: it is waited for, and one that
// comes in its place has them made again.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/jobs/engine/job_coordinator.h"
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

// Fails the job when a task has been gone for too long; one that comes or is lost begins the wait anew.
void JobCoordinator::look_after_owners() {
  Stage* const stage = running_stage();
  if (!stage) return;
  const auto& owners = stage->spec->owners;
  for (std::size_t part = 0; part < owners.size(); ++part) {
    const int task = owners[part];
    if (stage->tracker.is_made(part) || tasks_[static_cast<std::size_t>(task)].incarnation != 0)
      continue;
    Lack& lack = stage->lacks[part][{current_, part}];
    if (lack.times++ == 0 || lack.changes != changes_) lack = {1, now(), now(), changes_};
    const double waited = now() - lack.since;
    if (waited > std::chrono::duration<double>(order_.patience).count())
      return fail({Code::unavailable,
                   fmt::format("{}: waited {:.0f} s for {}, for which part {} of {} is: start that task",
                               stage->spec->name, waited, order_.mail->name_of(task), part,
                               stage->spec->parts)});
  }
}

}  // namespace actorflow
