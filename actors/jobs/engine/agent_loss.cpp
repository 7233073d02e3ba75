// What an agent does about tasks that are gone, the coordinator's above all.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "actors/jobs/engine/job_agent.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

constexpr auto first_complaint = 2s, complaint_interval = 10s;

}  // namespace

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
  if (task == JobMail::coordinator_task && !lost_since_) {
    lost_since_ = order_.clock.now();
    lost_why_ = lost.reason.message;
  }
  on_arrivals(fetcher_.lose_task(task, {Code::unavailable, lost.reason.message}));
}

bool JobAgent::waits_for_coordinator() const { return joining_ || leaving_ || waiting_ != 0; }

void JobAgent::look_after_coordinator() {
  if (waiting_ != 0) say_ready();
  if (order_.mail->coordinates() || !waits_for_coordinator()) return;
  if (joining_) order_.mail->to_coordinator(JoinJob{joining_->build, order_.number});
  if (leaving_ && lost_since_) order_.mail->to_coordinator(JoinJob{{}, order_.number});
  if (!lost_since_) return;
  const auto now = order_.clock.now();
  const std::string who = order_.mail->name_of(JobMail::coordinator_task);
  if (now - *lost_since_ > order_.patience)
    return give_up(
        {Code::unavailable,
         fmt::format("waited {:.0f} s for {}, which says what the job is: {}",
                     std::chrono::duration<double>(now - *lost_since_).count(), who, lost_why_)},
        false);
  if (now - *lost_since_ < first_complaint) return;
  if (complained_ && now - *complained_ < complaint_interval) return;
  complained_ = now;
  spdlog::warn("waiting for {}, which says what the job is: {}", who, lost_why_);
}

// The job's thread gets this for whatever it waits.
void JobAgent::give_up(const Status& why, bool begins_anew) {
  if (joining_) std::exchange(joining_, std::nullopt)->reply(why, {});
  if (leaving_) std::exchange(leaving_, std::nullopt)->reply(why, begins_anew);
  if (waiting_ != 0) end(waiting_, {why, begins_anew, {}, 0});
}

}  // namespace actorflow
