// Attempts that come back to the coordinator without having run: what they read is lost, or out of
// reach.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <iterator>
#include <string>
#include <utility>

#include "actors/jobs/engine/coordinator/job_coordinator.h"
#include "actors/probes/point.h"

namespace actorflow {
namespace {

Point not_there("slices that a task was asked for are not there"),
    apart("a task of a job cannot reach another one that the coordinator reaches");

}  // namespace

// False if its records have changed again and again on their disks: then the job has failed.
bool JobCoordinator::lose_part(const MissingPart& missing, const Status& why) {
  StageState* const input = stage_with(missing.stage, missing.part);
  if (!input) return true;
  const auto part = static_cast<std::size_t>(missing.part);
  // Several attempts may find one loss.
  const bool was_there = input->tracker.lose_part(part, missing.holder);
  if (!was_there || why.code != Code::data_loss || !input->spec) return true;
  const std::string who = fmt::format("{}: what part {} has kept at {}", input->spec->name, part,
                                      order_.mail->name_of(missing.holder));
  const unsigned changes = ++input->parts[part].changes;
  if (changes >= order_.max_attempts) {
    fail({why.code, fmt::format("{} was lost {} times: {}", who, changes, why.message)});
    return false;
  }
  spdlog::warn("{} is made again: {}", who, why.message);
  return true;
}

// No fault of the part's: what it reads was lost, its task has not come to the stage, or could not take
// it.
void JobCoordinator::on(int from, const PartNotRun& part) {
  StageState* const found = stage_with(part.id.stage, part.id.part);
  if (!found || !found->runs(part.id, from)) return;
  StageState& stage = *found;
  leave(from);
  if (are_apart(part, from)) {
    apart.hit();
    stage.part(part.id.part).failed_on.insert(from);
  } else if (part.missing) {
    not_there.hit();
    if (!lose_part(*part.missing, part.status)) return;
  } else {
    task_at(from).ready = 0;  // until it says again where it is
  }
  if (part.missing || part.status.code == Code::aborted) {
    stage.tracker.give_back(part.id.in_stage(), from);
    if (!waits(stage, part, from)) return;
  } else if (!tries_again(stage, part.id, from, part.status, Chance::now)) {
    return;
  }
  mend_wanted();
  assign();
}

// Whether the part's task cannot reach another one, which has what the part reads, and this task reaches
// both: then what was made is not lost, and a third task may read it.
bool JobCoordinator::are_apart(const PartNotRun& part, int from) const {
  if (!part.missing || part.status.code != Code::unavailable) return false;
  const int holder = part.missing->holder, own = order_.mail->own();
  return holder >= 0 && holder < std::ssize(tasks_) && holder != from && holder != own && from != own &&
         task_at(holder).incarnation != 0;
}

std::string JobCoordinator::reason_of(const PartNotRun& part, int from) const {
  if (!part.missing) return part.status.message;
  const JobMail& mail = *order_.mail;
  if (are_apart(part, from))
    return fmt::format(
        "{} cannot reach {}, which has part {} of stage run {}, though {} reaches both: {}",
        mail.name_of(from), mail.name_of(part.missing->holder), part.missing->part, part.missing->stage,
        mail.name_of(mail.own()), part.status.message);
  return fmt::format("part {} of stage run {} is missing, {}", part.missing->part, part.missing->stage,
                     part.status.message);
}

bool JobCoordinator::is_over(const RenewedWait& wait) const {
  return wait.is_over(now(), order_.patience);
}

// The task has come or is lost. What others do is no reason to wait for it, or for what it has, any
// longer.
void JobCoordinator::renew_waits_of(int task) {
  const double time = now();
  for (auto& [number, stage] : stages_)
    for (PartState& part : stage.parts) part.renew_waits_of(task, time);
  if (ending_) end_wait_->renew(now());
}

// False if it has waited too long: then the job has failed. What is missing should be there after a few
// times, unless the task that reads it or the one that has it comes or is lost.
bool JobCoordinator::waits(StageState& stage, const PartNotRun& part, int from) {
  const Lacking what = part.missing ? Lacking{part.missing->stage, part.missing->part} : Lacking{};
  LackWait& lack = stage.part(part.id.part).wait_on(what, now());
  ++lack.times;
  lack.tasks.insert(from);
  // Where it is held now, it was made again in the meantime.
  if (part.missing && lack.tasks.insert(part.missing->holder).second && lack.times > 1)
    lack.wait.renew(now());
  const std::string why = fmt::format(
      "{} at {} has come back {} times in {:.0f} s without having run: {}", stage.name_of(part.id.part),
      order_.mail->name_of(from), lack.times, lack.wait.seconds(now()), reason_of(part, from));
  if (lack.times >= order_.max_attempts) {
    if (is_over(lack.wait)) {
      fail({part.status.code, why});
      return false;
    }
    task_at(from).ready = 0;  // its next attempt is not at once
  }
  if (lack.wait.is_to_be_said(now())) spdlog::warn("{}; it is tried again", why);
  return true;
}

}  // namespace actorflow
