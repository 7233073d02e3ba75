// What becomes of the attempts of parts: they run, count, or are dropped.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "actors/jobs/engine/coordinator/job_coordinator.h"
#include "actors/probes/point.h"

namespace actorflow {
namespace {

// A part was made again, and differs from what it was.
Status not_deterministic(const StageState& stage, std::uint64_t part) {
  const auto& operators = stage.spec->operators;
  return {Code::internal,
          fmt::format("{} is not deterministic: made again after a loss, it has made something else. "
                      "Functions of a job must depend on their arguments only{}{}",
                      stage.name_of(part),
                      operators.empty() ? "" : "; those of this stage: ", fmt::join(operators, ", "))};
}

Point made_again("a part of a job that was lost is made again"),
    refused("an attempt that came too late is refused");

}  // namespace

StageState* JobCoordinator::stage_with(StageNumber number, std::uint64_t part) {
  const auto found = stages_.find(number);
  return found == stages_.end() || found->second.tracker.parts() <= part ? nullptr : &found->second;
}

void JobCoordinator::on(int from, const PartRan& ran) {
  StageState* const stage = stage_with(ran.id.stage, ran.id.part);
  if (!stage) return;
  if (stage->spec) stage->part(ran.id.part).waits.clear();
  if (!ran.status.ok()) return on_failed(from, *stage, ran);
  if (stage->spec && stage->tracker.grant(ran.id.in_stage(), from))
    return order_.mail->to_agent(from, AcceptPart{ran.id});
  refused.hit();
  give_back(*stage, ran.id.in_stage(), from);  // the one that may count can still fail
  order_.mail->to_agent(from, CancelPart{ran.id});
}

void JobCoordinator::on(int from, PartMade& made) {
  StageState* const stage = stage_with(made.id.stage, made.id.part);
  if (!stage) return;
  if (!made.status.ok())
    return on_failed(from, *stage, {made.id, std::move(made.status), {}, {}, made.of_disk});
  if (!stage->tracker.accept(made.id.in_stage(), from, now())) return;
  undelivered_.erase(from);
  stage->told_pauses.erase(from);  // its disk takes something again
  leave(from);
  for (const auto& other : stage->tracker.runs_of(made.id.in_stage().part)) drop(*stage, other);
  if (stage->spec) take(from, *stage, made);  // else nobody wants it any more
}

// A part is made, for the first time or again.
void JobCoordinator::take(int from, StageState& stage, PartMade& made) {
  PartState& part = stage.part(made.id.part);
  if (part.checksum) made_again.hit();
  if (part.differs(made.outcome.checksum)) return fail(not_deterministic(stage, made.id.part));
  if (!part.checksum) stage.note_weight(made);
  part.checksum = made.outcome.checksum;
  part.work = made.work;
  const bool is_current = stage.number == current_;
  if (is_current && !has_room_for_result(stage, made.outcome)) return;
  note(made.id, stage, made.outcome);
  if (is_current) part.outcome = std::move(made.outcome);
  if (is_current && stage.is_complete()) return end_stage({});
  // It may have made what its share is made of.
  if (const auto waits = catching_up_.find(from);
      waits != catching_up_.end() && waits->second == stage.number)
    say_done(from, stage);
  assign();
}

// False if the results of the stage's parts have become too much for the program: then the job has
// failed, before there is more of them.
bool JobCoordinator::has_room_for_result(StageState& stage, const PartOutcome& outcome) {
  stage.result_bytes += outcome.result.size();
  const auto& limit = stage.spec->limit;
  if (!limit || stage.result_bytes <= limit->bytes) return true;
  fail(limit->more);
  return false;
}

// An attempt that has run at the task runs no longer.
void JobCoordinator::leave(int position) {
  Task& task = task_at(position);
  if (task.running > 0) --task.running;
}

// Through no fault of the part's its attempt runs no longer, if it has run.
void JobCoordinator::give_back(StageState& stage, const PartAttempt& attempt, int task) {
  if (stage.tracker.give_back(attempt, task)) leave(task);
}

void JobCoordinator::drop(StageState& stage, const StageTracker::Run& run) {
  order_.mail->to_agent(run.task, CancelPart{{stage.number, run.attempt.part, run.attempt.attempt}});
  give_back(stage, run.attempt, run.task);
}

}  // namespace actorflow
