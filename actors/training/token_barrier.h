// The barrier of synchronous training: it increases the global step and hands out the tokens of a step.
// Follows TensorFlow's SyncReplicasOptimizer.
#pragma once

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/core/wait_reports.h"
#include "actors/core/waiters.h"
#include "actors/training/held_steps.h"
#include "actors/training/straggler_watch.h"

namespace actorflow {

// A contribution of a replica: its `serial`-th gradient (from 0) at the global step `step`.
struct Contribution {
  std::int64_t step = 0;
  std::int64_t serial = 0;

  auto operator<=>(const Contribution&) const = default;
};
// The last contribution of a replica that has made none, or knows of none.
constexpr Contribution no_contribution{-1, 0};

// The settings of a barrier, as take_token nodes describe it.
struct BarrierSettings {
  std::int64_t accumulators = 0;
  std::int64_t replicas_to_aggregate = 0;
  std::int64_t total_num_replicas = 0;
  std::int64_t initial_tokens = 0;

  // The settings of a node; its shape function has checked the numbers.
  static BarrierSettings of(const Node& take_token);
  std::int64_t tokens_per_step() const { return std::max(total_num_replicas, replicas_to_aggregate); }
  std::string to_string() const;
  bool operator==(const BarrierSettings&) const = default;
};

// The tokens of one global step. One is reserved for each replica, so that a fast one cannot take that
// of another and count twice in a step; only further tokens go to whichever replica comes first.
//
// A replica that asks again gets the same answer. So a replica whose answer was lost, because its step
// was aborted or its process restarted, repeats the same contributions and makes no others.
class StepTokens {
 public:
  StepTokens() = default;
  // Each replica needs a token for each contribution, except for its first one in the step with which
  // training starts.
  StepTokens(std::int64_t global_step, std::int64_t count, bool first_is_free = false)
      : global_step_(global_step), left_(count), free_(first_is_free ? 1 : 0) {}

  // The replica's contribution after `last`; nothing while there is no token for it.
  std::optional<Contribution> next(std::int64_t replica, const Contribution& last,
                                   std::int64_t total_num_replicas);
  std::int64_t global_step() const { return global_step_; }

 private:
  bool take(std::int64_t replica, std::int64_t total_num_replicas);

  std::int64_t global_step_ = 0;
  std::int64_t left_ = 0;
  std::int64_t free_ = 0;
  std::map<std::int64_t, std::int64_t> taken_;  // by replica
  std::int64_t takers_ = 0;                     // replicas that have taken any
};

// The barrier of one global step variable. Belongs to the coordinator of its task.
class TokenBarrier : public HeldSteps {
 public:
  TokenBarrier(std::string global_step, TaskRef task, FencingEpoch epoch)
      : name_(std::move(global_step)),
        task_(std::move(task)),
        epoch_(epoch),
        watched_since_(task_->clock->now()) {}

  // Handles a TakeToken, now or later. Throws invalid_argument if the replicas disagree about the
  // settings.
  void take_token(const StateCall& call);
  // Notes that a variable's mean gradient has been applied.
  void on_applied(GradientApplied& message);
  // Receives the global step at which training starts. If the shard has failed to tell, waiting ops fail
  // and the next one asks again.
  void on_global_step(const GlobalStepIs& message);
  // Drops the waiting ops of a step that has ended.
  void give_up(StepId step) { waiting_.give_up(step); }
  void fail_waiting(const Status& reason) { waiting_.fail_all(reason); }
  // The replicas of a task that is gone hand in nothing until they ask for a token again.
  void on_peer_lost(TaskId task);

  // The present step may end; tokens of the next one wait. All stand still when that is the one, or when
  // nobody is left who could end this one: a backup worker too few. Who asks for a token has handed in
  // gradients, but others may be on their way: where those of all who ask are enough, the step ends.
  void hold() override;
  void resume() override;
  bool stand_still(const std::set<std::int64_t>& resting) const override;
  // Call it every wait_look_interval: says for whom the replicas wait, and who makes all steps slow.
  void report_waiting();

 private:
  struct Waiting {
    ReplyTo reply_to;
    std::int64_t replica = 0;
    Contribution last;
  };

  void check_settings(const Node& node);
  // Moves the global step on while a step is complete; returns whether one was.
  bool complete_steps();
  bool hands_out() const { return tokens_ && !(held_at_ && tokens_->global_step() > *held_at_); }
  bool give_token(const Waiting& waiting);
  void give_tokens_to_all();
  // Notes for whom the others wait now.
  void watch();
  // The one replica that does not wait, if all others do.
  std::optional<std::int64_t> only_missing() const;
  std::string who(std::int64_t replica) const;
  // Whom waiting replicas wait for.
  std::string missing() const;
  void report_straggler();

  std::string name_;
  TaskRef task_;
  FencingEpoch epoch_;
  std::optional<BarrierSettings> settings_;  // known from the first TakeToken on
  // The tokens of the newest step, with which late replicas go on, too. Empty until the shard has told
  // the first step.
  std::optional<StepTokens> tokens_;
  std::map<std::int64_t, std::set<std::string>> applied_;  // finished accumulators, by global step
  KeyedWaiters<std::int64_t, Waiting> waiting_;            // by replica
  std::map<std::int64_t, std::string> task_of_replica_;    // the tasks of replicas
  std::set<std::int64_t> gone_;                            // replicas whose task was lost
  std::optional<std::int64_t> held_at_;  // no tokens of a later step are handed out; -1: none at all
  WaitReports reports_;
  StragglerWatch watch_;
  Clock::time_point watched_since_;
};

}  // namespace actorflow
