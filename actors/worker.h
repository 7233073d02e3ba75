// The worker of a task: it keeps the partitions that masters registered and runs them in lanes.
#pragma once

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <memory>
#include <unordered_map>
#include <vector>

#include "actors/executable.h"
#include "actors/messages.h"
#include "actors/placement.h"
#include "actors/task_context.h"

namespace actorflow {

// As many steps of a graph run at once as are asked for: each in a lane of its own, taken from those
// that are free. When a task is lost, the steps and graphs of its master go with it.
class Worker {
 public:
  Worker(caf::event_based_actor* self, TaskRef task) : self_(self), task_(std::move(task)) {}

  caf::behavior behavior();

 private:
  struct Registered {
    std::shared_ptr<const Executable> executable;
    TaskId master{};
    std::vector<caf::actor> free_lanes;
  };
  struct Running {
    caf::actor lane;
    TaskId master{};
  };

  void on_register(TaskId from, RegisterGraph& message);
  void on_run(TaskId from, RunGraph& message);
  void on_abort(const AbortStep& message);
  void on_idle(const LaneIdle& message);
  void on_peer_lost(const PeerLost& message);

  caf::event_based_actor* self_;
  TaskRef task_;
  std::unordered_map<std::uint64_t, Registered> graphs_;
  std::unordered_map<StepId, Running> running_;
};

using WorkerActor = caf::stateful_actor<std::unique_ptr<Worker>, LightActor>;
caf::behavior worker_actor(WorkerActor* self, TaskRef task);

}  // namespace actorflow
