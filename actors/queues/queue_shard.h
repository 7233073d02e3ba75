// The queue shard of a task: the actor that holds its queues and knows the inputs that it serves.
#pragma once

#include <caf/stateful_actor.hpp>
#include <map>
#include <memory>
#include <string>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/core/wait_reports.h"
#include "actors/queues/tensor_queue.h"
#include "actors/runtime/thread_affinity.h"

namespace actorflow {

// The first op that names a queue makes it. Waiting ops are answered when their step ends, and ops that
// wait for long are logged.
class QueueShard {
 public:
  QueueShard(GuardedActor* self, TaskRef task) : self_(self), task_(std::move(task)) {}

  caf::behavior behavior();

 private:
  struct Entry {
    TensorQueue queue;
    std::uint64_t served_before = 0;  // at the last tick, if an op waited then
    bool waited = false;
    WaitReports reports{};
  };

  void run(StateCall& call);
  void get_next(StateCall& call);
  TensorQueue& queue_of(const Node& node);
  void raise(FencingEpoch epoch);
  void clear(const ClearContainers& message);
  void report_waiting();

  GuardedActor* self_;
  TaskRef task_;
  FencingEpoch epoch_ = 0;
  std::map<std::string, Entry, std::less<>> queues_;
  std::map<std::string, caf::actor, std::less<>> inputs_;
};

using QueueShardActor = caf::stateful_actor<std::unique_ptr<QueueShard>, MeasuredActor>;
caf::behavior queue_shard_actor(QueueShardActor* self, TaskRef task);

}  // namespace actorflow
