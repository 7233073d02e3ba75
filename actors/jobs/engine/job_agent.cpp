#include "actors/jobs/engine/job_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/jobs/engine/job_journal.h"
#include "actors/probes/point.h"
#include "actors/runtime/exception_status.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

constexpr auto tick_interval = 500ms;

Point begun_anew("a task begins a job anew after its coordinator"),
    cancelled_running("an attempt is cancelled while it runs");

}  // namespace

JobAgent::JobAgent(GuardedActor* self, AgentOrder order)
    : self_(self),
      order_(std::move(order)),
      tools_(order_.tools),
      slots_(order_.slots),
      fetcher_(order_.mail, order_.kept, order_.tools.chunks) {}

caf::behavior JobAgent::behavior() {
  self_->introduce("job-agent", order_.mail->task() ? &order_.mail->task()->self.name : nullptr);
  self_->delayed_send(self_, tick_interval, Tick{});
  return guarded(
      self_, this,  //
      [this](BeginStage& stage) { begin(stage); },
      [this](const ForgetStage& stage) { forget(stage.number); },
      [this](AwaitJob& question) { await(question); },
      [this](AwaitJobEnd& question) { await(question); },
      [this](AbandonParts& order) { abandon(order); },
      [this](const Sender&, const RunPart& run) { on(run); },
      [this](const Sender&, const PartsKept& kept) { on(kept); },
      [this](const Sender&, const CancelPart& cancel) { on(cancel); },
      [this](const Sender&, const AcceptPart& accept) { on(accept); },
      [this](const Sender&, StageDone& done) { on(done); },
      [this](const Sender&, const JobEnded& ended) { on(ended); },
      [this](const Sender& from, ActorMessage& letter) { on_letter(from, letter); },
      [this](const AttemptRan& ran) { on(ran); }, [this](AttemptMade& made) { on(made); },
      [this](const PeerLost& lost) { on_lost(lost); }, [this](Tick) { on_tick(); });
}

// The job's thread.

void JobAgent::begin(BeginStage& stage) {
  waiting_ = stage.number;
  auto& ours = stages_[stage.number];
  ours.spec = std::move(stage.spec);
  ours.kept = std::move(stage.kept);
  ours.reply = std::move(stage.reply);
  if (job_end_) return on(JobEnded{*job_end_});
  say_ready();
}

void JobAgent::forget(StageNumber number) {
  const auto found = stages_.find(number);
  if (found == stages_.end() || found->second.reply) return;
  cancel_all(number);
  const auto spec = std::move(found->second.spec);  // may forget others when it is destroyed
  stages_.erase(found);
}

void JobAgent::await(AwaitJob& question) {
  joining_ = std::move(question);
  lost_since_ = order_.clock.now();
  lost_why_ = "it has not answered yet";
  order_.mail->to_coordinator(JoinJob{joining_->build});
}

void JobAgent::await(AwaitJobEnd& question) {
  leaving_ = std::move(question);
  if (job_end_) on(JobEnded{*job_end_});
}

void JobAgent::abandon(AbandonParts& order) {
  abandoned_ = std::move(order);
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

void JobAgent::say_ready() {
  const auto& stage = stages_.at(waiting_);
  order_.mail->to_coordinator(
      StageReady{waiting_, stage.spec->fingerprint, static_cast<std::uint32_t>(slots_)});
}

// The coordinator.

void JobAgent::on_letter(const Sender& from, ActorMessage& letter) {
  JobMail& mail = *order_.mail;
  const auto task = static_cast<int>(from.task);
  if (!letter.status.ok()) return on_undelivered(task, letter);
  if (says<SlicesAre>(letter)) {
    if (letter.request != mail.run()) return;
    take_letter<SlicesAre>(letter, [&](SlicesAre answer) {
      on_arrivals(fetcher_.take(answer, detail::payload_bytes(letter.payload)));
    });
    return;
  }
  if (task != JobMail::coordinator_task) return;
  lost_since_ = std::nullopt;
  if (says<JobIs>(letter) && letter.request != mail.run()) {
    if (!joining_) {
      begun_anew.hit();
      return give_up({Code::aborted, "the coordinator has begun the job anew"}, true);
    }
    mail.set_run(letter.request);
  }
  const bool ends_before_it_began = joining_ && says<JobEnded>(letter);
  if (ends_before_it_began) mail.set_run(letter.request);
  if (letter.request != mail.run()) return;
  take_letter<JobIs, RunPart, PartsKept, CancelPart, AcceptPart, StageDone, JobEnded>(
      letter, [&](auto message) { on(message); });
}

void JobAgent::on(const JobIs& job) {
  if (!joining_) return;
  tools_.part_bytes = job.terms.part_bytes;
  tools_.chunk_bytes = job.terms.chunk_bytes;
  tools_.work_folder = job.terms.work_folder;
  slots_ = std::min<std::size_t>(slots_, order_.memory_bytes / 2 / tools_.part_bytes);
  Status status;
  if (slots_ == 0)
    status = invalid_argument(fmt::format("--memory of {} bytes is too little here: the coordinator's "
                                          "parts take {} bytes each, twice",
                                          order_.memory_bytes, tools_.part_bytes))
                 .status();
  std::exchange(joining_, std::nullopt)->reply(status, job.terms);
}

void JobAgent::on(const RunPart& run) {
  if (attempts_.contains(run.id) || abandoned_) return;
  const auto stage = stages_.find(run.id.stage);
  if (stage == stages_.end() || !stage->second.spec)
    throw Error(Code::aborted, "this task does not run the stage");
  Attempt attempt;
  attempt.skips = {run.skips.begin(), run.skips.end()};
  attempt.made = run.made;
  for (const auto& [set, holders] : run.inputs) {
    attempt.inputs.push_back(set);
    if (!fetcher_.want(set, holders)) attempt.missing.insert(set);
  }
  const bool ready = attempt.missing.empty();
  attempts_.emplace(run.id, std::move(attempt));
  if (!ready) return;
  attempts_.at(run.id).state = State::queued;
  queue_.push_back(run.id);
  run_queued();
}

void JobAgent::refuse(const Sender&, const RunPart& run, Status why) {
  attempts_.erase(run.id);
  order_.mail->to_coordinator(PartNotRun{run.id, std::move(why), {}});
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
        order_.mail->to_coordinator(PartRan{id, arrival.status, {}});
      drop(id);
    }
  }
  run_queued();
}

void JobAgent::run_queued() {
  while (running_ < slots_ && !queue_.empty()) {
    const AttemptId id = queue_.front();
    queue_.pop_front();
    if (const auto found = attempts_.find(id); found != attempts_.end()) spawn(id, found->second);
  }
}

void JobAgent::spawn(const AttemptId& id, Attempt& attempt) {
  const Stage& stage = stages_.at(id.stage);
  attempt.state = State::runs;
  const bool writes_chunks = stage.kept && !tools_.work_folder.empty();
  attempt.runner = self_->spawn(
      part_actor,
      PartAssignment{
          id, stage.spec, stage.progress, tools_, &order_.clock, attempt.skips, attempt.cancel,
          writes_chunks ? chunk_file_name(id.stage, id.part, order_.mail->run(), id.attempt) : "",
          attempt.made},
      caf::actor_cast<caf::actor>(self_));
  ++running_;
}

void JobAgent::on(const PartsKept& kept) {
  if (abandoned_) return;
  for (const std::uint64_t partition : kept.partitions) {
    const SliceSet set{kept.stage, false, partition};
    if (fetcher_.want_early(set, kept.parts)) early_.insert(set);
  }
}

// What came early, and was then read elsewhere.
void JobAgent::drop_early(const StageSpec& reader) {
  for (std::size_t part = 0; reader.inputs && !early_.empty() && part < reader.parts; ++part)
    for (const auto& set : reader.inputs(part))
      if (early_.erase(set) > 0) fetcher_.release(set);
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

// Parts.

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
    order_.mail->to_coordinator(PartRan{ran.id, ran.status, ran.bad_record});
    if (!ran.status.ok()) drop(ran.id);
  }
  run_queued();
}

void JobAgent::on(AttemptMade& made) {
  const auto stage = stages_.find(made.id.stage);
  if (made.status.ok() && stage != stages_.end() && stage->second.kept)
    stage->second.kept->keep(made.id.part, std::move(made.product.chunks));
  say_progress();
  order_.mail->to_coordinator(
      PartMade{made.id, std::move(made.status), std::move(made.product.outcome)});
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

// The end of a stage.

void JobAgent::on(StageDone& done) {
  end(done.stage, {std::move(done.status), false, std::move(done.outcomes), done.skipped_records});
}

void JobAgent::end(StageNumber number, StageEnd how) {
  const auto found = stages_.find(number);
  if (found == stages_.end() || !found->second.reply || found->second.end) return;
  found->second.end = std::move(how);
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
  if (stage.kept && stage.end->status.ok()) stage.kept->set_sizes(stage.end->outcomes);
  const auto reply = std::exchange(stage.reply, nullptr);
  StageEnd end = *std::exchange(stage.end, std::nullopt);
  const auto spec = stage.spec;
  if (!stage.kept) stages_.erase(found);
  if (waiting_ == number) waiting_ = 0;
  drop_early(*spec);
  reply(std::move(end));
}

void JobAgent::on(const JobEnded& ended) {
  job_end_ = ended.status;
  say_left();
  if (joining_) std::exchange(joining_, std::nullopt)->reply(ended.status, {});
  if (leaving_) std::exchange(leaving_, std::nullopt)->reply(ended.status, false);
  if (waiting_ == 0) return;
  StageEnd over{ended.status, false, {}, 0};
  over.job_is_over = ended.status.ok();
  end(waiting_, std::move(over));
}

void JobAgent::on_tick() {
  if (*tools_.stopped && !order_.mail->coordinates())
    give_up({Code::cancelled, "the job was stopped"}, false);
  if (running_ > 0) say_progress();
  look_after_coordinator();
  self_->delayed_send(self_, tick_interval, Tick{});
}

void JobAgent::say_progress() {
  const auto stage = stages_.find(waiting_);
  if (stage == stages_.end()) return;
  const auto& progress = *stage->second.progress;
  order_.mail->to_coordinator(AgentProgress{
      waiting_, progress.bytes_read, progress.records_read, static_cast<double>(progress.busy_ns) * 1e-9,
      tools_.chunks->spilled_bytes(), tools_.chunks->memory_in_use()});
}

caf::behavior job_agent_actor(JobAgentActor* self, AgentOrder order) {
  self->state = std::make_unique<JobAgent>(self, std::move(order));
  return self->state->behavior();
}

}  // namespace actorflow
