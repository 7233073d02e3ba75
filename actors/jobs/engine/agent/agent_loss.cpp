// What an agent does about tasks that are gone, the coordinator's above all.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "actors/jobs/engine/agent/job_agent.h"

namespace actorflow {

// A message that the link could not carry came without what it said: like the loss of who sent it. So
// does the answer of a task that has no slices, since it has begun anew.
void JobAgent::on_undelivered(int task, const ActorMessage& letter) {
  if (letter.from == JobMail::slices_name && letter.request != order_.mail->run()) return;
  if (says<SlicesAre>(letter) || letter.from == JobMail::slices_name)
    on_arrivals(fetcher_.lose_task(task, letter.status));
  else if (task == JobMail::coordinator_task && letter.request == order_.mail->run())
    give_up(letter.status, false);
}

void JobAgent::on_lost(const PeerLost& lost) {
  const auto task = static_cast<int>(lost.task);
  if (task == JobMail::coordinator_task && !lost_wait_) lose_coordinator(lost.reason.message);
  on_arrivals(fetcher_.lose_task(task, {Code::unavailable, lost.reason.message}));
}

void JobAgent::lose_coordinator(const std::string& why) {
  lost_wait_.emplace(now());
  lost_why_ = why;
}

bool JobAgent::waits_for_coordinator() const { return joining_ || leaving_ || waiting_ != 0; }

void JobAgent::look_after_coordinator() {
  if (waiting_ != 0) say_ready();
  if (order_.mail->coordinates()) return;
  if (!waits_for_coordinator()) {
    if (lost_wait_) lost_wait_.emplace(now());  // it may be back: who asks for nothing hears nothing
    return;
  }
  if (joining_) order_.mail->to_coordinator(JoinJob{joining_->build, order_.number});
  if (leaving_ && lost_wait_) order_.mail->to_coordinator(JoinJob{{}, order_.number});
  if (!lost_wait_) return;
  const std::string who = fmt::format("{}, which says what the job is: {}",
                                      order_.mail->name_of(JobMail::coordinator_task), lost_why_);
  if (lost_wait_->is_over(now(), order_.patience))
    give_up({Code::unavailable, fmt::format("waited {:.0f} s for {}", lost_wait_->seconds(now()), who)},
            false);
  else if (lost_wait_->is_to_be_said(now()))
    spdlog::warn("waiting for {}", who);
}

// The job's thread gets this for whatever it waits.
void JobAgent::give_up(const Status& why, bool begins_anew) {
  if (joining_) std::exchange(joining_, std::nullopt)->reply(why, {});
  if (leaving_) std::exchange(leaving_, std::nullopt)->reply(why, begins_anew);
  first_wait_.reset();
  if (waiting_ != 0) end(waiting_, {why, begins_anew, {}, 0});
}

}  // namespace actorflow
