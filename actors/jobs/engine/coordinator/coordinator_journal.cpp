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

// Whether nothing runs or is to run: what is made no more is on disk, for those that want it.
bool JobCoordinator::is_complete(const Stage& stage) {
  return !stage.tracker.has_pending() && stage.tracker.runs().empty();
}

// Whether parts have to be computed, for which what they read must be there.
bool JobCoordinator::makes_parts(const Stage& stage) {
  for (std::size_t part = 0; part < stage.tracker.parts(); ++part)
    if (!stage.tracker.is_made(part) && !stage.on_disk.contains(part)) return true;
  return false;
}

// False if the stage is another one than that of the earlier runs: then the job has failed.
bool JobCoordinator::recall(StageNumber number, Stage& stage) {
  if (!order_.mail->journal) return true;
  auto lines = stage.spec->fingerprint;
  lines.insert(lines.end(), stage.spec->history.begin(), stage.spec->history.end());
  const auto found = history_.find(number);
  if (found == history_.end() || found->second.fingerprint.empty()) {
    caf::anon_send(order_.mail->journal, JournaledStage{number, std::move(lines)});
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
void JobCoordinator::recall_part(Stage& stage, const JournaledPart& made) {
  const auto part = static_cast<std::size_t>(made.part);
  recalled.hit();
  ++stage.resumed;
  skipped_ += made.skips.size();
  stage.skips[part] = {made.skips.begin(), made.skips.end()};
  stage.checksums[part] = made.outcome.checksum;
  stage.outcomes[part] = made.outcome;
  stage.result_bytes += made.outcome.result.size();
  if (stage.spec->keeps || !made.outcome.files.empty()) stage.on_disk[part] = made.outcome;
  if (made.outcome.files.empty()) stage.tracker.skip(part);
}

// A part was made.
void JobCoordinator::note(const AttemptId& id, Stage& stage, const PartOutcome& outcome) {
  const auto part = static_cast<std::size_t>(id.part);
  if (stage.takes_over.contains({part, id.attempt})) return taken_over.hit();
  if (!order_.mail->journal || !stage.spec->owners.empty()) return;
  const auto& skips = stage.skips[part];
  caf::anon_send(order_.mail->journal,
                 JournaledPart{id.stage, id.part, {skips.begin(), skips.end()}, outcome});
  if (stage.spec->keeps) stage.on_disk[part] = outcome;
}

void JobCoordinator::on_not_whole(Stage& stage, const AttemptId& id, int from, const Status& why) {
  const auto part = static_cast<std::size_t>(id.part);
  not_whole.hit();
  spdlog::warn("{}: part {} of {} is made again: {}", stage.spec->name, part, stage.spec->parts,
               why.message);
  stage.on_disk.erase(part);
  ++not_whole_;
  stage.tracker.give_back(id.in_stage(), from);
  mend_wanted();
  assign();
}

}  // namespace actorflow
