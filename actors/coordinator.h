// The coordinator of synchronous training: it holds the barrier and the tokens that release replicas.
//
// When every variable's mean gradient for a step has been applied, the global step moves on and
// max(total_num_replicas, replicas_to_aggregate) tokens with its number are given to those who wait,
// first come, first served. Follows TensorFlow's SyncReplicasOptimizer.
#pragma once

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "actors/messages.h"
#include "actors/placement.h"
#include "actors/task_context.h"

namespace actorflow {

// The barrier of one global step variable, as take_token nodes describe it. Values only: no actors.
struct Barrier {
  std::int64_t accumulators = 0;
  std::int64_t replicas_to_aggregate = 0;
  std::int64_t total_num_replicas = 0;
  std::int64_t initial_tokens = 0;

  // The op's shape function has seen to it that the numbers can work.
  static Barrier of(const Node& take_token);
  std::int64_t tokens_per_step() const { return std::max(total_num_replicas, replicas_to_aggregate); }
  std::string to_string() const;
  bool operator==(const Barrier&) const = default;
};

// The tokens of one global step. One is kept for each replica, so that a fast one cannot take that of
// another and count twice in a step; only those beyond are for whoever comes first.
class StepTokens {
 public:
  StepTokens() = default;
  StepTokens(std::int64_t global_step, std::int64_t count) : global_step_(global_step), left_(count) {}

  // False if there is none for the replica.
  bool take(std::int64_t replica, std::int64_t total_num_replicas);
  std::int64_t global_step() const { return global_step_; }

 private:
  std::int64_t global_step_ = 0;
  std::int64_t left_ = 0;
  std::set<std::int64_t> takers_;
};

class Coordinator {
 public:
  Coordinator(caf::event_based_actor* self, TaskRef task) : self_(self), task_(std::move(task)) {}

  caf::behavior behavior();

 private:
  struct Waiting {
    ReplyTo reply_to;
    std::int64_t replica = 0;
  };
  struct Group {
    std::optional<Barrier> barrier;                         // known from the first TakeToken on
    std::map<std::int64_t, std::set<std::string>> applied;  // accumulators that are done, by global step
    StepTokens tokens;  // of the newest step: who comes late goes on with that one
    std::deque<Waiting> waiting;
    bool waited_a_tick = false;
  };

  void take_token(const StateCall& call);
  void on_applied(GradientApplied& message);
  void on_global_step(const GlobalStepIs& message);
  void give_up(const GiveUp& message);
  // Forgets every barrier and token; who waits for one fails.
  void raise(FencingEpoch epoch);
  void clear(const ClearContainers& message);
  // Moves the global step on while a step is complete, then hands out tokens.
  void release(const std::string& name, Group& group);
  void report_waiting();

  caf::event_based_actor* self_;
  TaskRef task_;
  FencingEpoch epoch_ = 0;
  std::map<std::string, Group, std::less<>> groups_;  // by global step variable
};

using CoordinatorActor = caf::stateful_actor<std::unique_ptr<Coordinator>, LightActor>;
caf::behavior coordinator_actor(CoordinatorActor* self, TaskRef task);

}  // namespace actorflow
