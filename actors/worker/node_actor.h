// A node as an actor: its inputs are messages from the actors before it, and its outputs messages to
// those after it.
#pragma once

#include <caf/stateful_actor.hpp>
#include <map>
#include <memory>
#include <vector>

#include "actors/core/executable.h"
#include "actors/core/task_context.h"
#include "actors/runtime/thread_affinity.h"
#include "actors/worker/node_messages.h"

namespace actorflow {

// A node of an executable. The executable holds the node's actor, so the actor must not hold the
// executable.
struct NodeRef {
  std::weak_ptr<const Executable> executable;
  NodeId id = -1;
};

// Takes part in any number of steps at once: each has a frame, from the conductor's OpenFrame until the
// node has reported to it. A message for a step without a frame is late: the step was given up.
class NodeActor {
 public:
  NodeActor(PieceActor* self, TaskRef task, NodeRef node)
      : self_(self), task_(std::move(task)), executable_(std::move(node.executable)), id_(node.id) {}

  caf::behavior behavior();
  template <class M>
  void refuse(const M& message, Status why) {
    fail(message.step, std::move(why));
  }
  void refuse(const OpenFrame& message, Status why);

 private:
  using ExecutableRef = std::shared_ptr<const Executable>;
  struct Frame {
    caf::actor_addr conductor;
    FencingEpoch epoch = 0;
    bool trace = false;
    Tensor argument;
    std::int32_t missing = 0;  // inputs and control edges that have not arrived
    std::vector<Tensor> inputs{};
    Clock::time_point began{};
  };

  void open(OpenFrame& message);
  void take(TensorEdge& message);
  void take(const ControlEdge& message);
  void on_completed(Completed& message);
  // The frame of a step, null if it has none.
  Frame* frame_of(StepId step);
  void arrive(StepId step, Frame& frame);
  // Runs the node; a failure names it.
  void fire(StepId step, Frame& frame);
  void work(const ExecutableRef& executable, StepId step, Frame& frame);
  void compute(const Executable& executable, StepId step, Frame& frame);
  void send(const Executable& executable, StepId step, Frame& frame);
  void give_result(const Executable& executable, StepId step, Frame& frame);
  NodeDone report_of(StepId step, const Frame& frame, std::span<const Tensor> outputs) const;
  // Passes the outputs on and ends the frame.
  void done(const Executable& executable, NodeDone report, std::vector<Tensor>& outputs);
  void fail(StepId step, Status why);
  void close(Frame& frame, NodeDone report);

  PieceActor* self_;
  TaskRef task_;
  std::weak_ptr<const Executable> executable_;  // gone: nobody waits for a step of it
  NodeId id_;
  std::map<StepId, Frame> frames_;
};

using NodeActorBase = caf::stateful_actor<std::unique_ptr<NodeActor>, PieceActor>;
caf::behavior node_actor(NodeActorBase* self, TaskRef task, NodeRef node);

}  // namespace actorflow
