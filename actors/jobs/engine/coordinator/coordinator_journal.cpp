// What a coordinator writes into the journal of its job, and what it takes from those of earlier runs.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "actors/jobs/engine/coordinator/job_coordinator.h"
#include "actors/jobs/engine/journal/journal_actor.h"
#include "actors/probes/point.h"

namespace actorflow {
namespace {

Point recalled("a part of an earlier run of the job counts"),
    taken_over("what a part has left in files is taken over"),
    not_whole("what a part has left in files is not whole");

}  // namespace

// False if the stage is another one than that of the earlier runs: then the job has failed.
bool JobCoordinator::recall(StageState& stage) {
  if (!order_.mail->journal) return true;
  auto lines = stage.spec->fingerprint;
  lines.insert(lines.end(), stage.spec->history.begin(), stage.spec->history.end());
  const auto found = history_.find(stage.number);
  if (found == history_.end() || found->second.fingerprint.empty()) {
    caf::anon_send(order_.mail->journal, JournaledStage{stage.number, std::move(lines)});
    return true;
  }
  const JobHistory::Stage history = std::move(found->second);
  history_.erase(found);
  if (history.fingerprint != lines) {
    const auto [then, now] = first_difference(history.fingerprint, lines);
    fail({Code::failed_precondition,
          fmt::format("--resume: this is not the job that was begun: where that had '{}', this one has "
                      "'{}'. Give it the same input, or begin anew with --overwrite instead of --resume",
                      then, now)});
    return false;
  }
  for (const auto& [part, made] : history.parts)
    if (part < stage.spec->parts) recall_part(stage, made);
  return true;
}

// What it has handed over is taken from its file when it is wanted; the files of the result are looked
// at first; all else is in the journal.
void JobCoordinator::recall_part(StageState& stage, const JournaledPart& made) {
  PartState& part = stage.part(made.part);
  recalled.hit();
  ++stage.resumed;
  skipped_ += made.skips.size();
  part.skips = {made.skips.begin(), made.skips.end()};
  part.checksum = made.outcome.checksum;
  part.outcome = made.outcome;
  stage.result_bytes += made.outcome.result.size();
  if (stage.spec->keeps || !made.outcome.files.empty()) part.on_disk = made.outcome;
  if (made.outcome.files.empty()) stage.tracker.skip(static_cast<std::size_t>(made.part));
}

// A part was made.
void JobCoordinator::note(const AttemptId& id, StageState& stage, const PartOutcome& outcome) {
  PartState& part = stage.part(id.part);
  if (part.takeovers.contains(id.attempt)) return taken_over.hit();
  if (!order_.mail->journal || stage.is_owned()) return;
  caf::anon_send(order_.mail->journal,
                 JournaledPart{id.stage, id.part, {part.skips.begin(), part.skips.end()}, outcome});
  if (stage.spec->keeps) part.on_disk = outcome;
}

void JobCoordinator::on_not_whole(StageState& stage, const AttemptId& id, int from, const Status& why) {
  not_whole.hit();
  spdlog::warn("{} is made again: {}", stage.name_of(id.part), why.message);
  stage.part(id.part).on_disk.reset();
  ++not_whole_;
  stage.tracker.give_back(id.in_stage(), from);
  mend_wanted();
  assign();
}

}  // namespace actorflow
