// The parts of the stages that a coordinator looks after: who runs them, and what becomes of them.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/jobs/engine/job_coordinator.h"
#include "actors/probes/point.h"

namespace actorflow {
namespace {

// The machine may answer better next time; a mistake of the job or its input would only be made again.
bool may_pass(Code code) {
  return code == Code::disk_error || code == Code::resource_exhausted || code == Code::unavailable;
}

constexpr std::size_t slots_per_backup = 10;
constexpr double seconds_to_first_warning = 2, seconds_between_warnings = 10;

Point made_again("a part of a job that was lost is made again"),
    refused("an attempt that came too late is refused"), backed_up("a slow part of a job runs twice"),
    not_there("slices that a task was asked for are not there");

}  // namespace

// A task of several has some parts more than it runs, so that their input is on its way meanwhile.
bool JobCoordinator::has_room(const Task& task, const Stage& stage) const {
  const std::size_t ahead = tasks_.size() == 1 ? 0 : stage.reads.empty() ? 1 : task.slots;
  return task.running < task.slots + ahead;
}

bool JobCoordinator::can_run(const Stage& stage, std::size_t part, int task) const {
  const auto bad = stage.failed_on.find(part);
  const bool failed_here = bad != stage.failed_on.end() && bad->second.contains(task);
  const auto is_fresh = [&](const Task& other) {
    const auto position = static_cast<int>(&other - tasks_.data());
    return other.ready >= current_ && other.ready != 0 && !bad->second.contains(position);
  };
  if (failed_here && std::ranges::any_of(tasks_, is_fresh)) return false;
  if (!stage.spec->inputs || stage.reads.empty() || stage.on_disk.contains(part)) return true;
  return std::ranges::all_of(stage.spec->inputs(part), [&](const SliceSet& set) {
    const auto& tracker = stages_.at(set.stage).tracker;
    return set.of_one_part ? tracker.is_made(set.index) : tracker.finished();
  });
}

// One part for each task in turn, as long as there are any. What was lost comes first.
void JobCoordinator::assign() {
  for (bool given = current_ != 0; given;) {
    given = false;
    for (std::size_t task = 0; task < tasks_.size(); ++task) given |= assign_one(static_cast<int>(task));
  }
}

bool JobCoordinator::assign_one(int position) {
  const Task& task = tasks_[static_cast<std::size_t>(position)];
  for (auto& [number, stage] : stages_) {
    if (!stage.spec || !stage.tracker.has_pending() || number > task.ready || !has_room(task, stage))
      continue;
    const auto attempt = stage.tracker.next(
        position, now(), [&](std::size_t part) { return can_run(stage, part, position); }, task.slots);
    if (!attempt) continue;
    run(number, stage, *attempt, position);
    return true;
  }
  return false;
}

bool JobCoordinator::assign_backup(int position) {
  const Task& task = tasks_[static_cast<std::size_t>(position)];
  Stage& stage = stages_.at(current_);
  if (task.ready < current_ || task.running >= task.slots) return false;
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
  order_.mail->to_agent(from, CancelPart{ran.id});
}

void JobCoordinator::on(int from, PartMade& made) {
  const auto found = stages_.find(made.id.stage);
  if (found == stages_.end() || found->second.tracker.parts() <= made.id.part) return;
  Stage& stage = found->second;
  const auto part = static_cast<std::size_t>(made.id.part);
  if (!made.status.ok()) return on_failed(from, stage, {made.id, std::move(made.status), {}});
  if (!stage.tracker.accept(made.id.in_stage(), from, now())) return;
  leave(from);
  drop_others(made.id.stage, stage, part);
  if (!stage.spec) return;  // nobody wants it any more
  auto& checksum = stage.checksums[part];
  if (checksum) made_again.hit();
  if (checksum && *checksum != made.outcome.checksum)
    return fail({Code::internal,
                 fmt::format("{}: part {} of {} is not deterministic: made again after a loss, it has "
                             "made something else. Functions of a job must depend on their arguments "
                             "only",
                             stage.spec->name, part, stage.spec->parts)});
  checksum = made.outcome.checksum;
  note(made.id, stage, made.outcome);
  if (made.id.stage == current_) stage.outcomes[part] = std::move(made.outcome);
  if (made.id.stage == current_ && is_complete(stage)) return end_stage({});
  assign();
}

// Attempts of a part that has been made.
void JobCoordinator::drop_others(StageNumber number, Stage& stage, std::size_t part) {
  for (const auto& run : stage.tracker.runs_of(part)) {
    order_.mail->to_agent(run.task, CancelPart{{number, part, run.attempt.attempt}});
    stage.tracker.give_back(run.attempt, run.task);
    leave(run.task);
  }
}

bool JobCoordinator::runs(const Stage& stage, const AttemptId& id, int task) {
  return stage.spec && std::ranges::any_of(stage.tracker.runs(), [&](const auto& run) {
           return run.attempt == id.in_stage() && run.task == task;
         });
}

// Whether the part can do without the record. Two attempts of the part may fail for one record, which is
// skipped once. What a disk, want of memory or the end of the job has done to a function is no fault of
// its record's.
bool JobCoordinator::skips(Stage& stage, std::size_t part, std::uint64_t record, Code why) {
  auto& skips = stage.skips[part];
  if (skips.contains(record)) return true;
  if (skipped_ >= order_.skip_bad_records || may_pass(why) || why == Code::cancelled) return false;
  ++skipped_;
  skips.insert(record);
  return true;
}

void JobCoordinator::on_failed(int from, Stage& stage, const PartRan& ran) {
  if (!runs(stage, ran.id, from)) return;
  leave(from);
  const auto part = static_cast<std::size_t>(ran.id.part);
  if (stage.takes_over.contains({part, ran.id.attempt}))
    return on_not_whole(stage, ran.id, from, ran.status);
  ++stage.failed;
  if (ran.bad_record && skips(stage, part, *ran.bad_record, ran.status.code)) {
    stage.tracker.give_back(ran.id.in_stage(), from);
    return assign();
  }
  stage.failed_on[part].insert(from);
  if (tries_again(stage, ran.id, from, ran.status, may_pass(ran.status.code))) assign();
}

// Counts a failure of the part, which `may` be tried again. False if the job has failed with it.
bool JobCoordinator::tries_again(Stage& stage, const AttemptId& id, int from, const Status& status,
                                 bool may) {
  const unsigned failures = stage.tracker.fail(id.in_stage(), from);
  const std::string where =
      order_.mail->tasks() > 1 ? fmt::format(" at {}", order_.mail->name_of(from)) : "";
  Status why{status.code, fmt::format("{}: part {} of {}{}: {}", stage.spec->name, id.part,
                                      stage.spec->parts, where, status.message)};
  if (!may || failures >= order_.max_attempts) {
    fail(std::move(why));
    return false;
  }
  spdlog::warn("{}; it runs again", why.message);
  return true;
}

// False if its records have changed again and again on their disks: then the job has failed.
bool JobCoordinator::lose_part(const MissingPart& missing, const Status& why) {
  const auto found = stages_.find(missing.stage);
  if (found == stages_.end() || missing.part >= found->second.tracker.parts()) return true;
  Stage& input = found->second;
  const auto part = static_cast<std::size_t>(missing.part);
  // Several attempts may find one loss.
  if (!input.tracker.lose_part(part, missing.holder) || why.code != Code::data_loss) return true;
  const std::string who =
      fmt::format("{}: what part {} has kept at {}", input.spec ? input.spec->name : "an earlier stage",
                  part, order_.mail->name_of(missing.holder));
  if (++input.changed[part] >= order_.max_attempts) {
    fail({why.code, fmt::format("{} was lost {} times: {}", who, input.changed[part], why.message)});
    return false;
  }
  spdlog::warn("{} is made again: {}", who, why.message);
  return true;
}

// No fault of the part's: what it reads was lost, its task has not come to the stage, or could not take
// it.
void JobCoordinator::on(int from, const PartNotRun& part) {
  const auto found = stages_.find(part.id.stage);
  if (found == stages_.end() || !runs(found->second, part.id, from)) return;
  leave(from);
  if (part.missing) {
    not_there.hit();
    if (!lose_part(*part.missing, part.status)) return;
  } else {
    tasks_[static_cast<std::size_t>(from)].ready = 0;  // until it says again where it is
  }
  Stage& stage = found->second;
  if (part.missing || part.status.code == Code::aborted) {
    stage.tracker.give_back(part.id.in_stage(), from);
    if (!waits(stage, part, from)) return;
  } else if (!tries_again(stage, part.id, from, part.status, true)) {
    return;
  }
  if (Stage* current = running_stage()) mend(*current);
  assign();
}

// False if it has waited too long: then the job has failed. A task that comes or is lost is a reason to
// wait anew; without one, what was made again should be there after a few times.
bool JobCoordinator::waits(Stage& stage, const PartNotRun& part, int from) {
  const auto what = part.missing ? std::pair(part.missing->stage, part.missing->part)
                                 : std::pair(StageNumber{0}, std::uint64_t{0});
  Lack& lack = stage.lacks[static_cast<std::size_t>(part.id.part)][what];
  if (lack.times == 0 || lack.changes != changes_) lack = {0, now(), now(), changes_};
  ++lack.times;
  const double waited = now() - lack.since;
  const std::string why = fmt::format(
      "{}: part {} of {} at {} has come back {} times in {:.0f} s without having run: {}{}",
      stage.spec->name, part.id.part, stage.spec->parts, order_.mail->name_of(from), lack.times, waited,
      part.missing ? fmt::format("part {} of stage run {} is missing, ", what.second, what.first) : "",
      part.status.message);
  if (lack.times >= order_.max_attempts) {
    if (waited > std::chrono::duration<double>(order_.patience).count()) {
      fail({part.status.code, why});
      return false;
    }
    tasks_[static_cast<std::size_t>(from)].ready = 0;  // its next attempt is not at once
  }
  const bool said_before = lack.said > lack.since;
  if (now() - lack.said < (said_before ? seconds_between_warnings : seconds_to_first_warning))
    return true;
  lack.said = now();
  spdlog::warn("{}; it is tried again", why);
  return true;
}

}  // namespace actorflow
