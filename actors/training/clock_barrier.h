// The barrier of training with bounded staleness, at which replicas wait that are too far ahead.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/core/waiters.h"
#include "actors/training/replica_clocks.h"

namespace actorflow {

// The clocks of the replicas that train with one global step. Belongs to the coordinator of its task.
class ClockBarrier {
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
  // Drops the waiting ops of a step that has ended.
  void give_up(StepId step) { waiting_.give_up(step); }
  void fail_waiting(const Status& reason) { waiting_.fail_all(reason); }
  // Logs the replicas for which others have waited since the last call.
  void report_waiting();

 private:
  struct Waiting {
    ReplyTo reply_to;
    std::int64_t replica = 0;
  };

  ReplicaClocks& clocks_of(const StateCall& call);
  void remove(std::int64_t replica);
  void release();

  std::string name_;
  TaskRef task_;
  std::optional<ReplicaClocks> clocks_;   // from the first call on
  std::map<std::int64_t, TaskId> homes_;  // the tasks of replicas, where they have one
  Waiters<Waiting> waiting_;
};

}  // namespace actorflow
