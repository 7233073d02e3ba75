// Attempts that have failed: whether another one may go better, when and where.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "actors/jobs/engine/coordinator/job_coordinator.h"
#include "actors/jobs/engine/disk_pause.h"

namespace actorflow {
namespace {

constexpr std::size_t most_places_named = 3;

// The machine may answer better next time; a mistake of the job or its input would only be made again.
bool may_pass(Code code) {
  return code == Code::disk_error || code == Code::resource_exhausted || code == Code::unavailable;
}

// No fault of the record's for which a function was called when it was thrown.
bool concerns_no_record(Code code) { return may_pass(code) || code == Code::cancelled; }

// What to do about a disk that has refused at the last try.
std::string disk_advice(Code code, unsigned refusals) {
  return fmt::format(
      "; the disk has refused {}: {}, or give a folder on another disk (--spill_folder, "
      "--work_folder, --output)",
      refusals == 1 ? "once" : fmt::format("{} times", refusals),
      code == Code::resource_exhausted ? "make room there" : "have it looked at");
}

}  // namespace

void JobCoordinator::on_failed(int from, StageState& stage, const PartRan& ran) {
  if (!stage.runs(ran.id, from)) return;
  leave(from);
  PartState& part = stage.part(ran.id.part);
  if (part.takeovers.contains(ran.id.attempt)) return on_not_whole(stage, ran.id, from, ran.status);
  ++stage.failed;
  if (skips(stage, ran)) {
    stage.tracker.give_back(ran.id.in_stage(), from);
    return assign();
  }
  part.failed_on.insert(from);
  if (ran.of_disk) ++part.refusals;
  Status why = ran.status;
  if (ran.bad_record) why.message += skipped_before(why.code);
  if (tries_again(stage, ran.id, from, why, chance_of(stage, ran))) assign();
}

// Whether the part can do without the record for which it has failed. Two attempts of the part may fail
// for one record, which is skipped once. What a disk, want of memory or the end of the job has done to a
// function is no fault of its record's.
bool JobCoordinator::skips(StageState& stage, const PartRan& ran) {
  if (!ran.bad_record) return false;
  auto& skips = stage.part(ran.id.part).skips;
  if (skips.contains(*ran.bad_record)) return true;
  if (skipped_ >= order_.skip_bad_records || concerns_no_record(ran.status.code)) return false;
  ++skipped_;
  skips.insert(*ran.bad_record);
  if (first_skipped_.size() < most_places_named)
    first_skipped_.push_back(
        !ran.bad_place.empty()
            ? ran.bad_place
            : fmt::format("record {} of part {} of {}", *ran.bad_record, ran.id.part, stage.spec->name));
  return true;
}

// What is said beside a bad record that is one too many. Of records that an earlier run has left out
// only the number is known.
std::string JobCoordinator::skipped_before(Code why) const {
  if (skipped_ == 0 || concerns_no_record(why)) return "";
  return fmt::format(
      "; {} bad {} left out before it, which is all that --skip_bad_records {} "
      "allows{}{}{}",
      skipped_, skipped_ == 1 ? "record was" : "records were", order_.skip_bad_records,
      first_skipped_.empty() ? "" : ": ", fmt::join(first_skipped_, ", "),
      skipped_ > first_skipped_.size() ? ", ..." : "");
}

// What a disk forbids it will forbid again, but that of another task may allow it. All else that a disk
// refuses is better asked for later, also by a task that makes its share again.
JobCoordinator::Chance JobCoordinator::chance_of(const StageState& stage, const PartRan& ran) const {
  if (!ran.of_disk) return may_pass(ran.status.code) ? Chance::now : Chance::none;
  if (ran.status.code != Code::permission_denied)
    return may_pass(ran.status.code) ? Chance::later : Chance::none;
  if (stage.is_owned()) return Chance::none;
  const PartState& part = stage.part(ran.id.part);
  const auto is_ready = [&](const Task& task) { return task.ready >= ran.id.stage; };
  const auto may_come = [&](const Task& task) { return !task.has_left || is_ready(task); };
  return has_untried(part, is_ready)   ? Chance::elsewhere
         : has_untried(part, may_come) ? Chance::later
                                       : Chance::none;
}

// Counts a failure of the part. False if the job has failed with it.
bool JobCoordinator::tries_again(StageState& stage, const AttemptId& id, int from, const Status& status,
                                 Chance chance) {
  const unsigned failures = stage.tracker.fail(id.in_stage(), from);
  const std::string where =
      order_.mail->tasks() > 1 ? fmt::format(" at {}", order_.mail->name_of(from)) : "";
  Status why{status.code, fmt::format("{}{}: {}", stage.name_of(id.part), where, status.message)};
  const bool is_tried = failures >= order_.max_attempts && chance != Chance::elsewhere;
  if (chance == Chance::none || is_tried) {
    if (chance == Chance::later) why.message += disk_advice(status.code, stage.part(id.part).refusals);
    fail(std::move(why));
    return false;
  }
  if (chance == Chance::later)
    put_off(stage, id.part, from, why.message);
  else
    spdlog::warn("{}; it runs again", why.message);
  return true;
}

// The disk of the task has refused the part, which leaves it alone for a while.
void JobCoordinator::put_off(StageState& stage, std::uint64_t part, int task, const std::string& why) {
  const auto pause = disk_pause(stage.part(part).refusals);
  stage.tracker.pause(static_cast<std::size_t>(part), now() + static_cast<double>(pause.count()));
  // A full disk refuses all parts of its task: the first one speaks for them.
  auto& told = stage.told_pauses[task];
  if (told >= pause) return;
  told = pause;
  spdlog::warn("{}; it runs again in {} s, as other parts that the disk refuses", why, pause.count());
}

}  // namespace actorflow
