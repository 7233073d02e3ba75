// The parts of the stages that a coordinator looks after: who runs them, and what becomes of them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "actors/jobs/engine/coordinator/job_coordinator.h"
#include "actors/jobs/engine/disk_pause.h"
#include "actors/probes/point.h"

namespace actorflow {
namespace {

// The machine may answer better next time; a mistake of the job or its input would only be made again.
bool may_pass(Code code) {
  return code == Code::disk_error || code == Code::resource_exhausted || code == Code::unavailable;
}

// No fault of the record's for which a function was called when it was thrown.
bool concerns_no_record(Code code) { return may_pass(code) || code == Code::cancelled; }

// A part was made again, and differs from what it was.
Status not_deterministic(const StageSpec& stage, std::size_t part) {
  const std::string operators = stage.operators.empty() ? ""
                                                        : fmt::format("; those of this stage: {}",
                                                                      fmt::join(stage.operators, ", "));
  return {Code::internal,
          fmt::format("{}: part {} of {} is not deterministic: made again after a loss, it has made "
                      "something else. Functions of a job must depend on their arguments only{}",
                      stage.name, part, stage.parts, operators)};
}

// What to do about a disk that has refused until the last try.
std::string disk_advice(Code code, unsigned tries) {
  return fmt::format(
      "; the disk has refused {} times: {}, or give a folder on another disk (--spill_folder, "
      "--work_folder, --output)",
      tries, code == Code::resource_exhausted ? "make room there" : "have it looked at");
}

constexpr std::size_t slots_per_backup = 10, most_places_named = 3;

Point made_again("a part of a job that was lost is made again"),
    refused("an attempt that came too late is refused"), backed_up("a slow part of a job runs twice");

}  // namespace

// A task of several has some parts more than it runs, so that their input is on its way meanwhile.
bool JobCoordinator::has_room(const Task& task, const Stage& stage) const {
  const std::size_t ahead = tasks_.size() == 1 ? 0 : stage.reads.empty() ? 1 : task.slots;
  return task.running < task.slots + ahead;
}

// Whether there is such a task on which a part has not failed.
template <class IsOne>
bool JobCoordinator::has_untried(const std::set<int>& failed_on, const IsOne& is_one) const {
  return std::ranges::any_of(tasks_, [&](const Task& task) {
    return is_one(task) && !failed_on.contains(static_cast<int>(&task - tasks_.data()));
  });
}

bool JobCoordinator::can_run(StageNumber number, const Stage& stage, std::size_t part, int task) const {
  const auto bad = stage.failed_on.find(part);
  const bool is_owned = !stage.spec->owners.empty();
  if (is_owned && stage.spec->owners[part] != task) return false;
  const bool failed_here = !is_owned && bad != stage.failed_on.end() && bad->second.contains(task);
  if (failed_here && has_untried(bad->second, [&](const Task& other) { return other.ready >= number; }))
    return false;
  if (!stage.spec->inputs || stage.reads.empty() || stage.on_disk.contains(part)) return true;
  return std::ranges::all_of(stage.spec->inputs(part), [&](const SliceSet& set) {
    const auto& tracker = stages_.at(set.stage).tracker;
    return set.of_one_part ? tracker.is_made(set.index) : tracker.finished();
  });
}

// One part for each task in turn, as long as there are any. What was lost comes first.
void JobCoordinator::assign() {
  for (bool given = current_ != 0 || !catching_up_.empty(); given;) {
    given = false;
    for (std::size_t task = 0; task < tasks_.size(); ++task) given |= assign_one(static_cast<int>(task));
  }
}

bool JobCoordinator::assign_one(int position) {
  const Task& task = tasks_[static_cast<std::size_t>(position)];
  for (auto& [number, stage] : stages_) {
    if (!stage.spec || !stage.tracker.has_pending() || number > task.ready || !has_room(task, stage))
      continue;
    const auto may_run = [&](std::size_t part) { return can_run(number, stage, part, position); };
    const auto attempt = stage.tracker.next(position, now(), may_run, task.slots);
    if (!attempt) continue;
    run(number, stage, *attempt, position);
    return true;
  }
  return false;
}

bool JobCoordinator::assign_backup(int position) {
  const Task& task = tasks_[static_cast<std::size_t>(position)];
  Stage& stage = stages_.at(current_);
  if (task.ready < current_ || task.running >= task.slots || !stage.spec->owners.empty()) return false;
  std::size_t slots = 0;
  for (const auto& other : tasks_) slots += other.slots;
  const auto attempt =
      stage.tracker.backup(position, now(), std::max<std::size_t>(1, slots / slots_per_backup));
  if (!attempt) return false;
  ++stage.backups;
  backed_up.hit();
  spdlog::info("{}: part {} of {} takes long; {} runs it, too", stage.spec->name, attempt->part,
               stage.spec->parts, order_.mail->name_of(position));
  run(current_, stage, *attempt, position);
  return true;
}

void JobCoordinator::run(StageNumber number, Stage& stage, const PartAttempt& attempt, int task) {
  ++tasks_[static_cast<std::size_t>(task)].running;
  const auto& skips = stage.skips[attempt.part];
  RunPart order{{number, attempt.part, attempt.attempt}, {skips.begin(), skips.end()}, {}, {}};
  if (const auto on_disk = stage.on_disk.find(attempt.part); on_disk != stage.on_disk.end()) {
    order.made = on_disk->second;
    stage.takes_over.emplace(attempt.part, attempt.attempt);
  } else if (stage.spec->inputs) {
    for (const auto& set : stage.spec->inputs(attempt.part)) {
      const auto& tracker = stages_.at(set.stage).tracker;
      std::vector<std::int32_t> holders;
      if (set.of_one_part)
        holders.push_back(tracker.holder(set.index));
      else
        for (std::size_t part = 0; part < tracker.parts(); ++part)
          holders.push_back(tracker.holder(part));
      order.inputs.emplace_back(set, std::move(holders));
    }
  }
  order_.mail->to_agent(task, std::move(order));
}

void JobCoordinator::leave(int position) {
  Task& task = tasks_[static_cast<std::size_t>(position)];
  if (task.running > 0) --task.running;
}

void JobCoordinator::on(int from, const PartRan& ran) {
  const auto found = stages_.find(ran.id.stage);
  if (found == stages_.end() || found->second.tracker.parts() <= ran.id.part) return;
  Stage& stage = found->second;
  stage.lacks.erase(static_cast<std::size_t>(ran.id.part));
  if (!ran.status.ok()) return on_failed(from, stage, ran);
  if (stage.spec && stage.tracker.grant(ran.id.in_stage(), from))
    return order_.mail->to_agent(from, AcceptPart{ran.id});
  refused.hit();
  give_back(stage, ran.id.in_stage(), from);  // the one that may count can still fail
  order_.mail->to_agent(from, CancelPart{ran.id});
}

void JobCoordinator::on(int from, PartMade& made) {
  const auto found = stages_.find(made.id.stage);
  if (found == stages_.end() || found->second.tracker.parts() <= made.id.part) return;
  Stage& stage = found->second;
  const auto part = static_cast<std::size_t>(made.id.part);
  if (!made.status.ok())
    return on_failed(from, stage, {made.id, std::move(made.status), {}, {}, made.of_disk});
  if (!stage.tracker.accept(made.id.in_stage(), from, now())) return;
  undelivered_.erase(from);
  stage.told_pauses.erase(from);  // its disk takes something again
  leave(from);
  drop_others(made.id.stage, stage, part);
  if (!stage.spec) return;  // nobody wants it any more
  auto& checksum = stage.checksums[part];
  if (checksum) made_again.hit();
  if (checksum && *checksum != made.outcome.checksum) return fail(not_deterministic(*stage.spec, part));
  if (!checksum) note_weight(stage, made);
  checksum = made.outcome.checksum;
  stage.work[part] = made.work;
  if (made.id.stage == current_ && !has_room_for_result(stage, made.outcome)) return;
  note(made.id, stage, made.outcome);
  if (made.id.stage == current_) stage.outcomes[part] = std::move(made.outcome);
  if (made.id.stage == current_ && is_complete(stage)) return end_stage({});
  // It may have made what its share is made of.
  if (const auto waits = catching_up_.find(from);
      waits != catching_up_.end() && waits->second == made.id.stage)
    say_done(from, made.id.stage, stage);
  assign();
}

void JobCoordinator::note_weight(Stage& stage, const PartMade& made) {
  for (const auto& [partition, bytes] : made.heaviest) stage.heavy_partitions[partition] += bytes;
  if (const HeavyKey& heavy = made.heavy_key; !heavy.key.empty())
    stage.heavy_keys[heavy.partition][heavy.key] += heavy.bytes;
}

// False if the results of the stage's parts have become too much for the program: then the job has
// failed, before there is more of them.
bool JobCoordinator::has_room_for_result(Stage& stage, const PartOutcome& outcome) {
  stage.result_bytes += outcome.result.size();
  const auto& limit = stage.spec->limit;
  if (!limit || stage.result_bytes <= limit->bytes) return true;
  fail(limit->more);
  return false;
}

// Through no fault of the part's its attempt runs no longer, if it has run.
void JobCoordinator::give_back(Stage& stage, const PartAttempt& attempt, int task) {
  if (stage.tracker.give_back(attempt, task)) leave(task);
}

void JobCoordinator::drop(StageNumber number, Stage& stage, const StageTracker::Run& run) {
  order_.mail->to_agent(run.task, CancelPart{{number, run.attempt.part, run.attempt.attempt}});
  give_back(stage, run.attempt, run.task);
}

// Attempts of a part that has been made.
void JobCoordinator::drop_others(StageNumber number, Stage& stage, std::size_t part) {
  for (const auto& run : stage.tracker.runs_of(part)) drop(number, stage, run);
}

bool JobCoordinator::runs(const Stage& stage, const AttemptId& id, int task) {
  return stage.spec && std::ranges::any_of(stage.tracker.runs(), [&](const auto& run) {
           return run.attempt == id.in_stage() && run.task == task;
         });
}

// Whether the part can do without the record for which it has failed. Two attempts of the part may fail
// for one record, which is skipped once. What a disk, want of memory or the end of the job has done to a
// function is no fault of its record's.
bool JobCoordinator::skips(Stage& stage, const PartRan& ran) {
  if (!ran.bad_record) return false;
  auto& skips = stage.skips[static_cast<std::size_t>(ran.id.part)];
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

void JobCoordinator::on_failed(int from, Stage& stage, const PartRan& ran) {
  if (!runs(stage, ran.id, from)) return;
  leave(from);
  const auto part = static_cast<std::size_t>(ran.id.part);
  if (stage.takes_over.contains({part, ran.id.attempt}))
    return on_not_whole(stage, ran.id, from, ran.status);
  ++stage.failed;
  if (skips(stage, ran)) {
    stage.tracker.give_back(ran.id.in_stage(), from);
    return assign();
  }
  stage.failed_on[part].insert(from);
  Status why = ran.status;
  if (ran.bad_record) why.message += skipped_before(why.code);
  if (tries_again(stage, ran.id, from, why, chance_of(stage, ran))) assign();
}

// What a disk forbids it will forbid again, but that of another task may allow it. All else that a disk
// refuses is better asked for later, also by a task that makes its share again.
JobCoordinator::Chance JobCoordinator::chance_of(const Stage& stage, const PartRan& ran) const {
  if (!ran.of_disk) return may_pass(ran.status.code) ? Chance::now : Chance::none;
  if (ran.status.code != Code::permission_denied)
    return may_pass(ran.status.code) ? Chance::later : Chance::none;
  if (!stage.spec->owners.empty()) return Chance::none;
  const auto& failed_on = stage.failed_on.at(static_cast<std::size_t>(ran.id.part));
  const auto is_ready = [&](const Task& task) { return task.ready >= ran.id.stage; };
  const auto may_come = [&](const Task& task) { return !task.has_left || is_ready(task); };
  return has_untried(failed_on, is_ready)   ? Chance::elsewhere
         : has_untried(failed_on, may_come) ? Chance::later
                                            : Chance::none;
}

// Counts a failure of the part. False if the job has failed with it.
bool JobCoordinator::tries_again(Stage& stage, const AttemptId& id, int from, const Status& status,
                                 Chance chance) {
  const unsigned failures = stage.tracker.fail(id.in_stage(), from);
  const std::string where =
      order_.mail->tasks() > 1 ? fmt::format(" at {}", order_.mail->name_of(from)) : "";
  Status why{status.code, fmt::format("{}: part {} of {}{}: {}", stage.spec->name, id.part,
                                      stage.spec->parts, where, status.message)};
  const bool is_tried = failures >= order_.max_attempts && chance != Chance::elsewhere;
  if (chance == Chance::none || is_tried) {
    if (chance == Chance::later) why.message += disk_advice(status.code, failures);
    fail(std::move(why));
    return false;
  }
  if (chance != Chance::later) {
    spdlog::warn("{}; it runs again", why.message);
    return true;
  }
  const auto pause = disk_pause(failures);
  stage.tracker.pause(static_cast<std::size_t>(id.part), now() + static_cast<double>(pause.count()));
  // A full disk refuses all parts of its task: the first one speaks for them.
  if (auto& told = stage.told_pauses[from]; told < pause) {
    told = pause;
    spdlog::warn("{}; it runs again in {} s, as other parts that the disk refuses", why.message,
                 pause.count());
  }
  return true;
}

}  // namespace actorflow
