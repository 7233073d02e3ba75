// The end of a stage, and of the job, at a task: what runs there for it is given up first.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "actors/jobs/engine/agent/job_agent.h"
#include "actors/probes/point.h"

namespace actorflow {
namespace {

Point too_late("a job ends before a task has what it alone keeps");

Status not_its_own(StageNumber stage) {
  too_late.hit();
  return {
      Code::unavailable,
      fmt::format("the job has ended before this task had again what it alone keeps of stage run {}, "
                  "its share of the job's records, which was lost with the process before it: run "
                  "the job again on all tasks",
                  stage)};
}

}  // namespace

void JobAgent::on(StageDone& done) {
  end(done.stage, {std::move(done.status), false, std::move(done.outcomes), done.skipped_records});
}

void JobAgent::end(StageNumber number, StageEnd how) {
  const auto found = stages_.find(number);
  if (found == stages_.end() || !found->second.reply || found->second.end) return;
  found->second.end = std::move(how);
  end_wait_.emplace(now());
  first_wait_.reset();
  cancel_all(number);
  end_if_done(number);
}

void JobAgent::cancel_all(StageNumber number) {
  std::vector<AttemptId> useless;
  for (const auto& [id, attempt] : attempts_)
    if (id.stage == number) useless.push_back(id);
  for (const auto& id : useless) cancel(id);
}

// What the job's thread refers to must not be used any more when it goes on.
void JobAgent::end_if_done(StageNumber number) {
  const auto found = stages_.find(number);
  if (found == stages_.end() || !found->second.end) return;
  const auto attempt = attempts_.lower_bound(AttemptId{number, 0, 0});
  if (attempt != attempts_.end() && attempt->first.stage == number) return;
  Stage& stage = found->second;
  const auto kept = stage.kept.lock();
  if (kept && stage.end->status.ok()) kept->set_sizes(stage.end->outcomes);
  const auto reply = std::exchange(stage.reply, nullptr);
  StageEnd end = *std::exchange(stage.end, std::nullopt);
  const auto spec = stage.spec;
  if (!kept) stages_.erase(found);
  if (waiting_ == number) waiting_ = 0;
  reply(std::move(end));
}

// A program that joins now, or is at a stage as far as the last one that left it something, has that no
// more, and would go on without it.
void JobAgent::on(const JobEnded& ended) {
  job_end_ = ended;
  say_left();
  const Status early = ended.status.ok() && waiting_ <= ended.last_own && ended.last_own > 0
                           ? not_its_own(ended.last_own)
                           : ended.status;
  if (joining_) std::exchange(joining_, std::nullopt)->reply(early, {});
  if (leaving_) std::exchange(leaving_, std::nullopt)->reply(ended.status, false);
  first_wait_.reset();
  if (waiting_ == 0) return;
  StageEnd over{early, false, {}, 0};
  over.job_is_over = early.ok();
  end(waiting_, std::move(over));
}

void JobAgent::abandon(AbandonParts& order) {
  abandoned_ = std::move(order);
  end_wait_.emplace(now());
  std::vector<AttemptId> all;
  for (const auto& [id, attempt] : attempts_) all.push_back(id);
  for (const auto& id : all) cancel(id);
  end_if_abandoned();
}

void JobAgent::end_if_abandoned() {
  if (!abandoned_ || !attempts_.empty()) return;
  say_left();
  std::exchange(abandoned_, std::nullopt)->reply(true);
}

// Once, when it has heard of the job's end or its program has given the job up.
void JobAgent::say_left() {
  if (order_.mail->coordinates() || std::exchange(has_left_, true)) return;
  order_.mail->to_coordinator(JobLeft{});
}

}  // namespace actorflow
