// A peer: the actor that stands for another task. What is sent to it goes to that task, in order.
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
#include "actors/runtime/thread_affinity.h"
#include "schema/link.h"

namespace actorflow {

// What the network's thread and a peer let each other know without a message.
struct PeerSigns {
  std::atomic<bool> heard{false};      // something has come from the task
  std::atomic<bool> connected{false};  // there is a connection to it
};

struct PeerOptions {
  TaskId task{};
  std::string address;
  std::chrono::milliseconds connect_timeout{60'000};
  // A task that is connected and of which nothing is heard for so long is lost; 0 = never.
  std::chrono::milliseconds heartbeat_timeout{0};
  std::shared_ptr<PeerSigns> signs = std::make_shared<PeerSigns>();
  // Once asked to attend: the task is there; or it has gone, or cannot be reached (incarnation 0).
  std::function<void(const TaskIdentity&)> present, left;
  // The task knows a newer incarnation of ours: this process has been replaced.
  std::function<void(const Status&)> replaced;
};

// Connects when it has something to say, and keeps trying, saying for whom it waits, until the connect
// timeout; messages wait meanwhile. When that fails, or when the task is lost or has restarted, it
// reports PeerLost to master and worker, drops what was waiting, and starts anew with the
// next message. Asked to attend, it keeps up the connection without having anything to say.
//
// Once connected it says that it is alive, five times per heartbeat timeout, and wants to hear something
// of the task in at least one of four such intervals, or the task is lost. Intervals are counted, not
// time: a process that was stopped itself, or starved, accuses nobody.
class Peer {
 public:
  Peer(GuardedActor* self, TaskRef task, Network& network, PeerOptions options)
      : self_(self), task_(std::move(task)), network_(network), options_(std::move(options)) {}

  caf::behavior behavior();
  // What was to be sent, or heard, is lost: the connection counts as broken, and that is reported.
  template <class M>
  void refuse(const M&, const Status& why) {
    break_connection(why);
  }
  void refuse(Attend, const Status& why) {
    break_connection(why);
    report_left();
  }
  void refuse(Leave, const Status&) { self_->quit(); }

 private:
  enum class State { idle, connecting, up };

  void on_message(Message& message);
  void meet(std::uint64_t incarnation);
  void attend();
  void begin();
  void attempt();
  void on_up(std::uint64_t attempt, const TaskIdentity& identity);
  void on_down(std::uint64_t attempt, const Status& reason);
  void retry_or_give_up(const Status& reason);
  void lose(Status reason);
  void report_left();
  void leave();
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
  bool attending_ = false;
  std::unique_ptr<Link> link_;
  std::uint64_t attempt_ = 0;  // tells the events of an old link from those of the present one
  std::uint64_t incarnation_ = 0;
  std::vector<Message> waiting_;
  caf::actor_clock::time_point connecting_since_, last_report_, attending_since_, heard_at_;
  int silent_beats_ = 0;
};

using PeerActor = caf::stateful_actor<std::unique_ptr<Peer>, LightActor>;
caf::behavior peer_actor(PeerActor* self, TaskRef task, Network* network, PeerOptions options);

}  // namespace actorflow
