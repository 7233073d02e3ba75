// A peer: the actor that stands for another task and forwards messages to it, in order.
#pragma once

#include <atomic>
#include <caf/stateful_actor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/core/task_recorder.h"
#include "actors/core/tell_incarnation.h"
#include "actors/runtime/thread_affinity.h"
#include "schema/link.h"

namespace actorflow {

// The state that the network's thread and a peer share without messages.
struct PeerSigns {
  std::atomic<bool> heard{false};      // something has been received from the task
  std::atomic<bool> connected{false};  // there is a connection to it
};

struct PeerOptions {
  TaskId task{};
  std::string address;
  std::chrono::milliseconds connect_timeout{60'000};
  // The time of silence after which a connected task is lost; 0 = never.
  std::chrono::milliseconds heartbeat_timeout{0};
  std::shared_ptr<PeerSigns> signs = std::make_shared<PeerSigns>();
  std::shared_ptr<TaskRecorder> recorder = {};  // of our own task; none: nothing is recorded
  // Called after a request to attend: `present` when the task is there, `left` when it has gone or
  // cannot be reached (incarnation 0).
  std::function<void(const TaskIdentity&)> present, left;
  // Called when the task knows a newer incarnation of ours: this process has been replaced.
  std::function<void(const Status&)> replaced;
};

// Connects when there is a message, and keeps trying until the connect timeout; messages wait meanwhile,
// and from 2 s on the log says for whom. When that fails, or when the task is lost or has restarted, it
// reports PeerLost to the actors of its task, drops waiting messages, and starts anew with the next one.
// Asked to attend, it keeps the connection even without messages.
//
// Once connected it sends a sign of life five times per heartbeat timeout. The task is lost if nothing
// is received from it in four such intervals. Intervals are counted, not time: a process that was
// stopped itself, or starved, accuses nobody.
class Peer {
 public:
  // To itself: time to say for whom messages wait, unless that wait is over.
  struct StillWaiting {
    std::uint64_t wait;
  };

  Peer(GuardedActor* self, TaskRef task, Network& network, PeerOptions options)
      : self_(self), task_(std::move(task)), network_(network), options_(std::move(options)) {}

  caf::behavior behavior();
  // A message is lost: the connection counts as broken, and that is reported.
  template <class M>
  void refuse(const M&, const Status& why) {
    break_connection(why);
  }
  void refuse(const Message&, const Status& why) {
    if (state_ != State::up) return self_->end_task("a message");
    break_connection(why);
  }
  void refuse(const ForIncarnation& message, const Status& why) { refuse(message.message, why); }
  void refuse(Attend, const Status& why) {
    break_connection(why);
    report_left();
  }
  void refuse(Leave, const Status&) { self_->quit(); }
  void refuse(const StillWaiting&, const Status&) {}  // nothing is lost but lines of the log

 private:
  enum class State { idle, connecting, up };

  void on_message(Message& message);
  void send(Message message);
  bool may_reach(std::uint64_t incarnation) const;
  void meet(std::uint64_t incarnation);
  void attend();
  void begin();
  void report_wait(std::uint64_t wait);
  void attempt();
  void on_up(std::uint64_t attempt, const TaskIdentity& identity);
  void on_down(std::uint64_t attempt, const Status& reason);
  void retry_or_give_up(const Status& reason);
  void lose(Status reason);
  void report_left();
  void leave(const Leave& how);
  void beat(std::uint64_t attempt);
  void drop_link();
  void break_connection(const Status& why);
  std::string who() const;

  GuardedActor* self_;
  TaskRef task_;
  Network& network_;
  PeerOptions options_;

  State state_ = State::idle;
  bool leaving_ = false;
  bool told_end_ = false;  // that incarnation was sent that the job is over: it ends, too
  bool given_up_ = false;  // nobody has answered for the whole of connect_timeout, nor since
  bool attending_ = false;
  std::unique_ptr<Link> link_;
  std::uint64_t attempt_ = 0;      // distinguishes events of an old link from those of the present one
  std::uint64_t incarnation_ = 0;  // that our newest connection reached
  std::uint64_t broken_with_ = 0;  // that our newest connection which has broken reached
  std::vector<Message> waiting_;
  std::uint64_t wait_ = 0;  // counts the times that messages began to wait
  std::string refusal_;     // why the last attempt failed
  caf::actor_clock::time_point connecting_since_, attending_since_, heard_at_;
  int silent_beats_ = 0;
};

using PeerActor = caf::stateful_actor<std::unique_ptr<Peer>, LightActor>;
caf::behavior peer_actor(PeerActor* self, TaskRef task, Network* network, PeerOptions options);

}  // namespace actorflow
