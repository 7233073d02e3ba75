// A lane: the actor that runs the steps of one executable, one after the other.
//
// A step's tensors lie in the lane's frame. A node whose inputs are all there runs at once, in the
// activation that made it ready. Costly nodes are sent to actors of their own while the lane goes on;
// nodes that need state or another task are sent to the actor that has it. The answers come back as
// Completed messages.
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

namespace actorflow {

class Lane {
 public:
  explicit Lane(PinnedActor* self) : self_(self) {}

  caf::behavior behavior(TaskRef task, std::shared_ptr<TaskRecorder> recorder,
                         std::shared_ptr<const Executable> executable);
  // For messages of the step in progress.
  template <class M>
  void refuse(const M&, Status why) {
    if (active_) fail_step(std::move(why));
  }
  void refuse(const StartStep& message, Status why);

 private:
  // Stores what the end of the step needs.
  void begin(const StartStep& start);
  void start(StartStep& start);
  void on_completed(Completed& result);
  // Runs ready nodes until none is left, then ends the step if it is done.
  void advance();
  NodeId next();
  // Runs a node; a failure names it.
  void fire(NodeId id);
  void dispatch(const ExecutableNode& item, NodeId id);
  void compute(const ExecutableNode& item, NodeId id);
  bool worth_handing_over(const ExecutableNode& item, NodeId id) const;
  void hand_over(const ExecutableNode& item, NodeId id);
  void compute_here(const ExecutableNode& item, NodeId id);
  void send(const ExecutableNode& item, NodeId id);
  void take_argument(const ExecutableNode& item, NodeId id);
  void give_result(const ExecutableNode& item, NodeId id);
  void fetch_from_gpu();
  // Passes a node's outputs to their consumers.
  void done(NodeId id, std::vector<Tensor>& outputs);
  // For the end of every node: releases nodes that wait for it by a control edge.
  void pass_control(const ExecutableNode& item);
  void arrive(NodeId id);
  // For traced steps: record that a node has begun, or has ended with that many bytes.
  void note_begin(NodeId id);
  void note_end(NodeId id, std::int64_t bytes_out);
  // What the recorder has: for the task's, and for the master if it has asked for that.
  void fail_step(Status status);
  void finish();
  // Now and then: whether the network's thread may run the lane.
  void look_at_costs();
  std::chrono::nanoseconds brief_limit() const;
  void set_brief(bool brief);

  std::span<Tensor> inputs_of(const ExecutableNode& item);
  std::vector<Tensor> take_inputs(const ExecutableNode& item);
  ReplyTo reply_to(NodeId id) const;

  PinnedActor* self_;
  TaskRef task_;
  std::shared_ptr<TaskRecorder> task_recorder_;
  std::shared_ptr<const Executable> executable_;

  // The step in progress.
  bool active_ = false;
  StepId step_ = 0;
  StepOrigin origin_;
  FencingEpoch epoch_ = 0;
  Status status_;
  std::vector<Slot> args_, retvals_;
  std::vector<Tensor> inputs_;         // the frame, by ExecutableNode::first_input
  std::vector<std::int32_t> pending_;  // by node
  std::vector<NodeId> ready_;          // to compute here, from first_ready_ on
  std::size_t first_ready_ = 0;
  std::vector<NodeId> ready_elsewhere_;     // work of other actors: started before anything is computed
  std::vector<NodeId> from_gpu_;            // results of the step that a GPU has, or will have
  std::vector<Tensor> outputs_;             // of the node being computed
  std::unique_ptr<PartRecorder> recorder_;  // of a traced step, or of a recorded task
  NodeId remaining_ = 0;
  int given_away_ = 0;        // nodes that other threads compute now
  bool interrupted_ = false;  // there is more to run, after the messages in the mailbox
  // The actors of nodes that have been handed over; none for the others, and empty before the first.
  std::vector<caf::actor> costly_nodes_;
  unsigned steps_ended_ = 0;
  bool brief_ = false;  // the network's thread may run it
};

using LaneActor = caf::stateful_actor<std::unique_ptr<Lane>, PinnedActor>;
caf::behavior lane_actor(LaneActor* self, TaskRef task, std::shared_ptr<TaskRecorder> recorder,
                         std::shared_ptr<const Executable> executable);

}  // namespace actorflow
