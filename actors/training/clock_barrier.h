// The barrier of training with bounded staleness, at which replicas wait that are too far ahead.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/core/wait_reports.h"
#include "actors/core/waiters.h"
#include "actors/training/held_steps.h"
#include "actors/training/replica_clocks.h"

namespace actorflow {

// The clocks of the replicas that train with one global step. Belongs to the coordinator of its task.
class ClockBarrier : public HeldSteps {
 public:
  ClockBarrier(std::string global_step, TaskRef task)
      : name_(std::move(global_step)), task_(std::move(task)) {}

  // The handlers of its ops, which answer now or later. Throw invalid_argument if the replicas disagree
  // about the bound.
  void join(const StateCall& call);
  void advance(const StateCall& call);
  void leave(const StateCall& call);
  void statistics(const StateCall& call);

  // Ends the part of the replicas of a lost task: nobody waits for them any longer.
  void on_peer_lost(TaskId task);
  // The step of a session has ended without its answer.
  void give_up(StepId step);
  void fail_waiting(const Status& reason);
  // Call it every wait_look_interval: says for whom replicas wait.
  void report_waiting();

  // Nobody goes on, and nobody joins. All stand still when every replica that takes part waits.
  void hold() override { is_held_ = true; }
  void resume() override;
  bool stand_still(const std::set<std::int64_t>& resting) const override;

 private:
  struct Waiting {
    ReplyTo reply_to;
    std::int64_t replica = 0;
  };
  struct Joining {
    ReplyTo reply_to;
    StateCall call;
  };

  void take_part(const StateCall& call);
  ReplicaClocks& clocks_of(const StateCall& call);
  void remove(std::int64_t replica);
  bool lets_go(const Waiting& waiting);
  void release_all();

  std::string name_;
  TaskRef task_;
  std::optional<ReplicaClocks> clocks_;             // from the first call on
  std::map<std::int64_t, TaskId> task_of_replica_;  // of those that have one
  KeyedWaiters<std::int64_t, Waiting> waiting_;     // by replica
  Waiters<Joining> joining_;                        // while the steps are held
  WaitReports reports_;
  bool is_held_ = false;
};

}  // namespace actorflow
