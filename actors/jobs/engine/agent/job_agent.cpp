#include "actors/jobs/engine/agent/job_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/probes/point.h"

namespace actorflow {
namespace {

Point begun_anew("a task begins a job anew after its coordinator");

}  // namespace

JobAgent::JobAgent(GuardedActor* self, AgentOrder order)
    : self_(self),
      order_(std::move(order)),
      tools_(order_.tools),
      slots_(order_.slots),
      fetcher_(order_.mail, order_.kept, tools_) {}

caf::behavior JobAgent::behavior() {
  self_->introduce("job-agent", order_.mail->task() ? &order_.mail->task()->self.name : nullptr);
  self_->delayed_send(self_, job_tick_interval, Tick{});
  return guarded(
      self_, this,  //
      [this](BeginStage& stage) { begin(stage); },
      [this](const ForgetStage& stage) { forget(stage.number); },
      [this](AwaitJob& question) { await(question); },
      [this](AwaitJobEnd& question) { await(question); },
      [this](AbandonParts& order) { abandon(order); },
      [this](const Sender&, const RunPart& run) { on(run); },
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
  ours.kept = stage.kept;
  ours.reply = std::move(stage.reply);
  first_wait_.reset();
  if (job_end_) return on(JobEnded(*job_end_));
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
  lose_coordinator("it has not answered yet");
  order_.mail->to_coordinator(JoinJob{joining_->build, order_.number});
}

void JobAgent::await(AwaitJobEnd& question) {
  leaving_ = std::move(question);
  first_wait_.emplace(now());
  if (job_end_) on(JobEnded(*job_end_));
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
  if (joining_) {
    if (!answers_us(letter)) return;
    mail.set_run(letter.request);
  }
  const bool was_lost = std::exchange(lost_wait_, std::nullopt).has_value();
  if (was_lost && first_wait_) first_wait_->renew(now());  // it was not there meanwhile
  if (says<JobIs>(letter) && letter.request != mail.run()) {
    begun_anew.hit();
    return give_up({Code::aborted, "the coordinator has begun the job anew"}, true);
  }
  // This task's program had done its part, and lost its coordinator, which came back under another
  // number.
  if (says<JobEnded>(letter) && leaving_ && was_lost) mail.set_run(letter.request);
  if (letter.request != mail.run()) return;
  const auto run_part = [&](const RunPart& run) {
    try {
      on(run);
    } catch (...) {  // the attempt fails, not this task, as when its own coordinator asks for it
      refuse(from, run, self_->failure_of("RunPart"));
    }
  };
  if (take_letter<RunPart>(letter, run_part)) return;
  take_letter<JobIs, CancelPart, AcceptPart, StageDone, JobEnded>(letter,
                                                                  [&](auto message) { on(message); });
}

// What is for an agent that this task had before says nothing of the job that it wants to join now.
bool JobAgent::answers_us(const ActorMessage& letter) const {
  std::uint64_t to = 0;
  take_letter<JobIs, JobEnded>(letter, [&](const auto& message) { to = message.to; });
  return to == order_.number;
}

void JobAgent::on(const JobIs& job) {
  note_first_program(job.begun);
  if (!joining_) return;
  if (job.terms.part_bytes == 0)
    return std::exchange(joining_, std::nullopt)
        ->reply({Code::internal,
                 fmt::format("{} says that parts of the job may hold 0 bytes: it is no task of this "
                             "program, or has a defect",
                             order_.mail->name_of(JobMail::coordinator_task))},
                {});
  tools_.part_bytes = job.terms.part_bytes;
  tools_.chunk_bytes = job.terms.chunk_bytes;
  tools_.work_folder = job.terms.work_folder;
  order_.mail->set_shuffle_compression(job.terms.shuffle_compression);
  slots_ = std::min<std::size_t>(slots_, order_.memory_bytes / 2 / tools_.part_bytes);
  Status status;
  if (slots_ == 0)
    status = invalid_argument(fmt::format("--memory of {} bytes is too little here: the coordinator's "
                                          "parts take {} bytes each, twice",
                                          order_.memory_bytes, tools_.part_bytes))
                 .status();
  std::exchange(joining_, std::nullopt)->reply(status, job.terms);
}

void JobAgent::on_tick() {
  if (*tools_.stopped && !order_.mail->coordinates())
    give_up({Code::cancelled, "the job was stopped"}, false);
  if (running_ > 0) say_progress();
  look_after_coordinator();
  look_after_first_program();
  look_after_last_parts();
  self_->delayed_send(self_, job_tick_interval, Tick{});
}

void JobAgent::say_progress() {
  const auto stage = stages_.find(waiting_);
  if (stage == stages_.end()) return;
  const auto& progress = *stage->second.progress;
  AgentProgress said{order_.number,
                     waiting_,
                     {},
                     static_cast<double>(progress.busy_ns) * 1e-9,
                     tools_.chunks->spilled_bytes(),
                     tools_.chunks->memory_in_use()};
  said.work += progress.work;
  order_.mail->to_coordinator(std::move(said));
}

caf::behavior job_agent_actor(JobAgentActor* self, AgentOrder order) {
  self->state = std::make_unique<JobAgent>(self, std::move(order));
  return self->state->behavior();
}

}  // namespace actorflow
