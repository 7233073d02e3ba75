#include "actors/task/peer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "actors/probes/point.h"
#include "actors/runtime/scheduler.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {
namespace {

Point restarted("a task met in another life");

using namespace std::chrono_literals;

constexpr auto retry_interval = 100ms;
constexpr auto first_report = 2s, report_interval = 5s;
// How long messages for a task that does not answer are kept when our own task ends.
constexpr auto farewell = 2s;
// An attended task counts as gone after this time without a connection, or after the connect timeout.
constexpr std::chrono::milliseconds attention = 10s;

// From the network's thread to the peer. `attempt` tells an old link's events from the present one's.
struct LinkUp {
  std::uint64_t attempt;
  TaskIdentity identity;
};
struct LinkDown {
  std::uint64_t attempt;
  Status reason;
};
// To itself: time for a sign of life, and to look whether there was one of the task.
struct Beat {
  std::uint64_t attempt;
};
// To itself: our task ends without waiting any longer for this one.
struct FarewellIsOver {};

constexpr int beats_per_timeout = 5;

// Without memory for an event of the link the process ends, rather than wait for it for ever.
template <class Tell>
void or_end_task(const caf::actor& peer, Tell tell) noexcept {
  try {
    tell();
  } catch (...) {
    TaskScheduler::of(peer.home_system()).end_task_by_exception([] {
      return std::string("a peer could not hear of its connection");
    });
  }
}

double seconds(caf::actor_clock::duration_type duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace
}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::LinkUp)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::LinkDown)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::Beat)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::Peer::StillWaiting)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::FarewellIsOver)

namespace actorflow {

caf::behavior Peer::behavior() {
  self_->introduce("peer", &task_->self.name);
  return guarded(
      self_, this,  //
      [this](Message& message) { on_message(message); },
      [this](ForIncarnation& message) {
        if (may_reach(message.incarnation)) on_message(message.message);
      },
      [this](const StillThere& told) {
        if (told.incarnation == broken_with_) broken_with_ = 0;
      },
      [this](const LinkUp& event) { on_up(event.attempt, event.identity); },
      [this](const LinkDown& event) { on_down(event.attempt, event.reason); },
      [this](const Beat& event) { beat(event.attempt); },
      [this](const StillWaiting& event) { report_wait(event.wait); }, [this](Tick) { attempt(); },
      [this](const Met& message) { meet(message.incarnation); }, [this](Attend) { attend(); },
      [this](SayAlive) {
        if (state_ == State::idle) begin();
      },
      [this](const Leave& message) { leave(message); }, [this](FarewellIsOver) { self_->quit(); });
}

void Peer::on_message(Message& message) {
  if (options_.recorder) options_.recorder->sent(options_.task, message);
  if (state_ == State::up) return send(std::move(message));
  waiting_.push_back(std::move(message));
  if (waiting_.size() == 1) self_->delayed_send(self_, first_report, StillWaiting{++wait_});
  if (state_ == State::idle) begin();
}

void Peer::send(Message message) {
  const bool is_end = std::holds_alternative<Shutdown>(message);
  link_->send(std::move(message));
  told_end_ |= is_end;
}

bool Peer::may_reach(std::uint64_t incarnation) const {
  return state_ == State::up ? incarnation == incarnation_ : incarnation != broken_with_;
}

// By a timer, not when an attempt fails: an attempt to connect to a silent task lasts 10 s.
void Peer::report_wait(std::uint64_t wait) {
  if (wait != wait_ || waiting_.empty()) return;
  self_->delayed_send(self_, report_interval, StillWaiting{wait});
  const auto waited = self_->clock().now() - connecting_since_;
  spdlog::warn("{}: waiting for {} since {:.0f} s: {}", task_->self.name.to_string(), who(),
               seconds(waited), link_ || refusal_.empty() ? "no answer yet" : refusal_);
}

// Drops a link to an older incarnation: later messages are for the new one.
void Peer::meet(std::uint64_t incarnation) {
  if (state_ != State::up || incarnation == incarnation_) return;
  drop_link();
  restarted.hit();
  lose({Code::unavailable, fmt::format("{} has restarted", who())});
}

void Peer::attend() {
  attending_ = true;
  attending_since_ = self_->clock().now();
  if (state_ == State::up) options_.present({task_->name_of(options_.task), incarnation_});
  if (state_ == State::idle) begin();
}

void Peer::begin() {
  state_ = State::connecting;
  connecting_since_ = self_->clock().now();
  attempt();
}

void Peer::attempt() {
  if (state_ != State::connecting) return;
  const auto number = ++attempt_;
  const auto self = caf::actor_cast<caf::actor>(self_);
  const LinkEvents events{
      [self, number](const TaskIdentity& identity) {
        or_end_task(self, [&] { caf::anon_send(self, LinkUp{number, identity}); });
      },
      [self, number](const Status& reason) {
        or_end_task(self, [&] { caf::anon_send(self, LinkDown{number, reason}); });
      },
  };
  try {
    link_ = network_.connect(options_.address, task_->self, task_->name_of(options_.task), events);
  } catch (...) {
    on_down(number, current_exception_status());
  }
}

void Peer::on_up(std::uint64_t attempt, const TaskIdentity& identity) {
  if (attempt != attempt_) return;
  if (incarnation_ != 0 && incarnation_ != identity.incarnation)
    spdlog::info("{}: {} has restarted", task_->self.name.to_string(), who());
  told_end_ &= incarnation_ == identity.incarnation;
  incarnation_ = identity.incarnation;
  given_up_ = false;
  state_ = State::up;
  options_.signs->connected = true;
  for (auto& message : waiting_) send(std::move(message));
  waiting_.clear();
  if (attending_) options_.present(identity);
  if (leaving_) return self_->quit();
  if (options_.heartbeat_timeout.count() == 0) return;
  options_.signs->heard = true;
  beat(attempt);
}

void Peer::beat(std::uint64_t attempt) {
  if (attempt != attempt_ || state_ != State::up) return;
  const auto now = self_->clock().now();
  if (options_.signs->heard.exchange(false)) {
    silent_beats_ = 0;
    heard_at_ = now;
  } else if (++silent_beats_ == beats_per_timeout - 1) {
    drop_link();
    const std::string self = task_->self.name.to_string();
    Status silent{Code::unavailable,
                  fmt::format("{} is connected, but has said nothing for {:.1f} s: it is stopped or cut "
                              "off, or cannot reach {}",
                              who(), seconds(now - heard_at_), self)};
    spdlog::warn("{}: {}", self, silent.message);
    return lose(std::move(silent));
  }
  link_->send(Heartbeat{});
  self_->delayed_send(self_, options_.heartbeat_timeout / beats_per_timeout, Beat{attempt});
}

// Events of that link are ignored from here on.
void Peer::drop_link() {
  ++attempt_;
  link_.reset();
}

// With messages that wait there is no connection yet whose end the other task would see; so ours ends.
void Peer::break_connection(const Status& why) {
  if (state_ != State::up && !waiting_.empty()) return self_->end_task("what others wait for");
  drop_link();
  spdlog::warn("{}: {}", task_->self.name.to_string(), why.message);
  lose({Code::unavailable, fmt::format("lost the connection to {}: {}", who(), why.message)});
}

void Peer::on_down(std::uint64_t attempt, const Status& reason) {
  if (attempt != attempt_) return;
  link_.reset();
  if (state_ == State::up)  // also if this task could not send: it could not again
    lose({reason.code, fmt::format("lost the connection to {}: {}", who(), reason.message)});
  else
    retry_or_give_up(reason);
}

void Peer::retry_or_give_up(const Status& reason) {
  const auto now = self_->clock().now();
  const auto waited = now - connecting_since_;
  if (reason.code == Code::aborted) options_.replaced(reason);
  // Another program or version at that address will not go away by waiting.
  if (reason.code != Code::unavailable)
    return lose({reason.code, fmt::format("{}: {}", who(), reason.message)});
  if (attending_ && now - attending_since_ >= std::min(attention, options_.connect_timeout))
    report_left();
  const bool nothing_to_say = waiting_.empty() && !leaving_;
  if (nothing_to_say && !attending_) {  // whoever needs the task begins anew
    state_ = State::idle;
    return;
  }
  if (waited >= options_.connect_timeout && !nothing_to_say) {
    given_up_ = true;
    return lose({Code::unavailable,
                 fmt::format("waited {:.1f} s for {} without reaching it: {}; is that task running?",
                             seconds(waited), who(), reason.message)});
  }
  refusal_ = reason.message;
  self_->delayed_send(self_, retry_interval, Tick{});
}

void Peer::lose(Status reason) {
  const bool only_attending = state_ == State::connecting && waiting_.empty();
  if (state_ == State::up) broken_with_ = incarnation_;
  state_ = State::idle;
  options_.signs->connected = false;
  waiting_.clear();
  if (leaving_) return self_->quit();
  if (!only_attending) {
    const PeerLost lost{options_.task, incarnation_, std::move(reason)};
    for (const auto& actor :
         {task_->master, task_->worker, task_->coordinator, task_->shard, task_->switchboard})
      caf::anon_send(actor, lost);
  }
  if (!attending_) return;
  report_left();
  state_ = State::connecting;  // a replacement may come
  connecting_since_ = self_->clock().now();
  self_->delayed_send(self_, retry_interval, Tick{});
}

void Peer::report_left() { options_.left({task_->name_of(options_.task), incarnation_}); }

void Peer::leave(const Leave& how) {
  const bool nobody_hears =
      how.at_once || given_up_ || told_end_ || (how.job_is_over && incarnation_ != 0);
  if (nobody_hears || state_ != State::connecting || waiting_.empty()) return self_->quit();
  leaving_ = true;
  const auto waited = self_->clock().now() - connecting_since_;
  options_.connect_timeout = std::chrono::duration_cast<std::chrono::milliseconds>(waited + farewell);
  // A timer, since an attempt to connect to a silent task may last longer.
  self_->delayed_send(self_, farewell, FarewellIsOver{});
}

std::string Peer::who() const {
  return fmt::format("{} at {}", task_->name_of(options_.task).to_string(), options_.address);
}

caf::behavior peer_actor(PeerActor* self, TaskRef task, Network* network, PeerOptions options) {
  self->state = std::make_unique<Peer>(self, std::move(task), *network, std::move(options));
  return self->state->behavior();
}

}  // namespace actorflow
