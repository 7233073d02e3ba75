// The attempts that an agent is given: their input comes, they run, count or are dropped.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/jobs/engine/agent/job_agent.h"
#include "actors/jobs/engine/journal/job_journal.h"
#include "actors/probes/point.h"

namespace actorflow {
namespace {

Point cancelled_running("an attempt is cancelled while it runs");

}  // namespace

void JobAgent::on(const RunPart& run) {
  if (attempts_.contains(run.id) || abandoned_) return;
  const auto stage = stages_.find(run.id.stage);
  if (stage == stages_.end() || !stage->second.spec)
    throw Error(Code::aborted, "this task does not run the stage");
  if (run.id.part >= stage->second.spec->parts)
    throw invalid_argument(fmt::format("expected a part of {}, which has {}, got part {}",
                                       stage->second.spec->name, stage->second.spec->parts,
                                       run.id.part));
  Attempt& attempt = attempts_[run.id];  // refuse() drops it
  attempt.skips = {run.skips.begin(), run.skips.end()};
  attempt.made = run.made;
  for (const auto& [set, holders] : run.inputs) {
    attempt.inputs.push_back(set);
    if (!fetcher_.want(set, holders)) attempt.missing.insert(set);
  }
  if (!attempt.missing.empty()) return;
  attempt.state = State::queued;
  queue_.push_back(run.id);
  run_queued();
}

void JobAgent::refuse(const Sender&, const RunPart& run, Status why) {
  order_.mail->to_coordinator(PartNotRun{run.id, std::move(why), {}});
  if (attempts_.contains(run.id)) cancel(run.id);
}

void JobAgent::on_arrivals(const std::vector<InputFetcher::Arrival>& arrivals) {
  for (const auto& arrival : arrivals) {
    std::vector<AttemptId> failed;
    for (auto& [id, attempt] : attempts_) {
      if (attempt.missing.erase(arrival.set) == 0) continue;
      if (!arrival.status.ok()) {
        failed.push_back(id);
      } else if (attempt.missing.empty()) {
        attempt.state = State::queued;
        queue_.push_back(id);
      }
    }
    for (const auto& id : failed) {
      if (arrival.missing)
        order_.mail->to_coordinator(PartNotRun{id, arrival.status, arrival.missing});
      else
        order_.mail->to_coordinator(PartRan{id, arrival.status, {}, {}, arrival.of_disk});
      drop(id);
    }
  }
  run_queued();
}

void JobAgent::run_queued() {
  while (running_ < slots_ && !queue_.empty()) {
    const AttemptId id = queue_.front();
    queue_.pop_front();
    if (const auto found = attempts_.find(id); found != attempts_.end()) try_spawn(id, found->second);
  }
}

// Want of memory fails the attempt, whatever has made room for it.
void JobAgent::try_spawn(const AttemptId& id, Attempt& attempt) {
  try {
    spawn(id, attempt);
  } catch (...) {
    order_.mail->to_coordinator(PartNotRun{id, self_->failure_of("RunPart"), {}});
    drop(id);
  }
}

void JobAgent::spawn(const AttemptId& id, Attempt& attempt) {
  const Stage& stage = stages_.at(id.stage);
  // What a task alone keeps outlives the job, and so its folder, and no other process may have it.
  const bool writes_chunks =
      stage.spec->keeps && stage.spec->owners.empty() && !tools_.work_folder.empty();
  attempt.runner = self_->spawn(
      part_actor,
      PartAssignment{
          id, stage.spec, stage.progress, tools_, &order_.clock, attempt.skips, attempt.cancel,
          writes_chunks ? chunk_file_name(id.stage, id.part, order_.mail->run(), id.attempt) : "",
          attempt.made, order_.mail->task()},
      caf::actor_cast<caf::actor>(self_));
  attempt.state = State::runs;
  ++running_;
}

void JobAgent::on(const CancelPart& message) {
  if (attempts_.contains(message.id)) cancel(message.id);
}

void JobAgent::cancel(const AttemptId& id) {
  Attempt& attempt = attempts_.at(id);
  attempt.cancelled = true;
  *attempt.cancel = true;
  if (attempt.state == State::runs) cancelled_running.hit();
  if (attempt.state == State::has_run) caf::anon_send_exit(attempt.runner, caf::exit_reason::kill);
  if (attempt.state != State::runs && attempt.state != State::commits) drop(id);
}

void JobAgent::on(const AcceptPart& accept) {
  const auto found = attempts_.find(accept.id);
  if (found == attempts_.end() || found->second.state != State::has_run) return;
  found->second.state = State::commits;
  caf::anon_send(found->second.runner, CommitAttempt{});
}

void JobAgent::on(const AttemptRan& ran) {
  --running_;
  Attempt& attempt = attempts_.at(ran.id);
  attempt.state = State::has_run;
  // The end of this process is no failure of the part's: others will see that the task is gone.
  const bool leaves = *tools_.stopped && !order_.mail->coordinates();
  if (attempt.cancelled || leaves) {
    caf::anon_send_exit(attempt.runner, caf::exit_reason::kill);
    drop(ran.id);
  } else {
    say_ran(ran);
    if (!ran.status.ok()) drop(ran.id);
  }
  run_queued();
}

// A part of this task whose records are gone, or have changed on the disk, is to be made again; what
// came from another task only has to come again.
void JobAgent::say_ran(const AttemptRan& ran) {
  const auto kept = ran.lost ? order_.kept->find(ran.lost->stage) : nullptr;
  if (!kept)
    return order_.mail->to_coordinator(
        PartRan{ran.id, ran.status, ran.bad_record, ran.bad_place, ran.of_disk});
  const bool was_lost_before = ran.lost->chunks && !kept->lose(ran.lost->part, ran.lost->chunks);
  if (!ran.lost->is_own && ran.status.code == Code::data_loss)
    return order_.mail->to_coordinator(PartRan{ran.id, {Code::disk_error, ran.status.message}, {}});
  // What has come in the place of a copy that was lost before is as good as any.
  const int holder = was_lost_before ? StageTracker::nowhere : order_.mail->own();
  order_.mail->to_coordinator(
      PartNotRun{ran.id, ran.status, MissingPart{ran.lost->stage, ran.lost->part, holder}});
}

void JobAgent::on(AttemptMade& made) {
  const auto stage = stages_.find(made.id.stage);
  const auto kept = stage == stages_.end() ? nullptr : stage->second.kept.lock();
  if (made.status.ok() && kept) kept->keep(made.id.part, std::move(made.product.chunks));
  say_progress();
  order_.mail->to_coordinator(PartMade{made.id, std::move(made.status), std::move(made.product.outcome),
                                       made.product.work, made.of_disk, std::move(made.product.heaviest),
                                       std::move(made.product.heavy_key)});
  drop(made.id);
}

void JobAgent::drop(const AttemptId& id) {
  const auto inputs = std::move(attempts_.at(id).inputs);
  attempts_.erase(id);
  std::erase(queue_, id);
  for (const auto& set : inputs)
    if (std::ranges::none_of(attempts_, [&](const auto& other) {
          return std::ranges::find(other.second.inputs, set) != other.second.inputs.end();
        }))
      fetcher_.release(set);
  end_if_done(id.stage);
  end_if_abandoned();
}

}  // namespace actorflow
