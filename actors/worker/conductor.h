// A conductor: the actor that runs the steps of one executable whose nodes are actors, one after the
// other.
//
// It opens a frame at every node's actor and waits for the report of each; in between the tensors go
// from node to node without it. The worker uses it like a lane.
#pragma once

#include <caf/stateful_actor.hpp>
#include <memory>
#include <vector>

#include "actors/core/executable.h"
#include "actors/core/step_tracer.h"
#include "actors/core/task_context.h"
#include "actors/core/task_recorder.h"
#include "actors/runtime/thread_affinity.h"
#include "actors/worker/node_calls.h"
#include "actors/worker/node_messages.h"

namespace actorflow {

// The first failure fails the step: it tells every node that has not reported to give up. The step ends
// when all nodes have reported, so no node acts in a step that is over.
class Conductor {
 public:
  Conductor(GuardedActor* self, TaskRef task, std::shared_ptr<TaskRecorder> recorder,
            std::shared_ptr<const Executable> executable)
      : self_(self),
        task_(std::move(task)),
        task_recorder_(std::move(recorder)),
        executable_(std::move(executable)) {}

  caf::behavior behavior();
  void refuse(const StartStep& message, Status why);
  void refuse(const NodeDone& message, Status why);
  void refuse(const GiveUp& message, Status why);

 private:
  void begin(const StartStep& start);
  void start(StartStep& start);
  void open(StartStep& start, NodeId id);
  void on_done(NodeDone& report);
  bool runs(StepId step) const { return active_ && step == step_; }
  // Counts the first report of each node.
  void settle(NodeId id);
  // What the recorder has: for the task's, and for the master if it has asked for that.
  void fail_step(Status status);
  void finish();

  GuardedActor* self_;
  TaskRef task_;
  std::shared_ptr<TaskRecorder> task_recorder_;
  std::shared_ptr<const Executable> executable_;

  // The step in progress.
  bool active_ = false;
  StepId step_ = 0;
  StepOrigin origin_;
  Status status_;
  std::vector<Slot> retvals_;
  std::vector<bool> open_;  // by node: it has a frame and has not reported
  NodeId awaited_ = 0;      // nodes that are open
  NodeId told_ = 0;         // of a failed step: nodes before this one have been told to give up
  std::unique_ptr<PartRecorder> recorder_;  // of a traced step, or of a recorded task
};

using ConductorActor = caf::stateful_actor<std::unique_ptr<Conductor>, LightActor>;
caf::behavior conductor_actor(ConductorActor* self, TaskRef task,
                              std::shared_ptr<TaskRecorder> recorder,
                              std::shared_ptr<const Executable> executable);

}  // namespace actorflow
