// The messages between the actors of one task. Messages between tasks are in schema/message.h; inside a
// task they arrive with their Sender in front.
#pragma once

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "actors/core/held_state.h"
#include "dataflow/graph/graph.h"
#include "schema/master.h"
#include "schema/message.h"

namespace actorflow {

class Executable;

// A task by its position in the cluster.
enum class TaskId : std::int32_t {};

// The sender of a message. The incarnation is that of its connection's handshake.
struct Sender {
  TaskId task{};
  std::uint64_t incarnation = 0;
};

// worker -> lane or conductor: run the executable once.
struct StartStep {
  StepId step = 0;
  TaskId master{};
  FencingEpoch epoch = 0;
  std::vector<Slot> args;
  bool trace = false;
  bool goes_on = false;  // the next step follows: LaneIdle takes the answer to the master
};
// worker -> lane or conductor, rendezvous, coordinator, shard, queues; conductor -> node actor:
// everything that waits for something of the step fails with the reason.
struct GiveUp {
  StepId step = 0;
  Status reason;
};
// lane or conductor -> worker: the step is over, the sender is free.
struct LaneIdle {
  std::uint64_t graph = 0;
  StepId step = 0;
  bool ok = true;
  std::optional<StepDone> answer{};  // for the master, unless it has been sent
};
// worker -> shard: asks for the moment at which nothing waits any more of what the executable has
// contributed to variables, so that the step may begin that reads them next.
struct AwaitUpdates {
  StepId step = 0;
  std::shared_ptr<const Executable> executable;
};
// shard -> worker: the answer.
struct UpdatesMade {
  StepId step = 0;
  Status status{};  // why the step cannot begin
};

// The address of an answer to a lane, or to a node's own actor: a Completed for that node of the step.
struct ReplyTo {
  caf::actor lane;
  StepId step = 0;
  NodeId node = -1;
};
// any actor -> lane or node actor: the result of a node.
struct Completed {
  StepId step = 0;
  NodeId node = -1;
  Status status;
  std::vector<Tensor> outputs;
};

// lane -> node actor: compute the node away from the lane's thread.
struct Fire {
  ReplyTo reply_to;
  std::shared_ptr<const Executable> executable;  // keeps the kernel alive
  std::vector<Tensor> inputs;
};
// lane or node actor -> rendezvous: a Recv waits for its tensor.
struct AwaitTensor {
  ReplyTo reply_to;
  std::uint32_t channel = 0;
};
// lane or node actor -> shard, coordinator or queues: carry out this node.
struct StateCall {
  ReplyTo reply_to;
  std::shared_ptr<const Executable> executable;  // keeps `node` alive
  const Node* node = nullptr;
  FencingEpoch epoch = 0;  // of the step
  std::vector<Tensor> inputs;
};
// shard -> coordinator, queues, collectives: the task's epoch has been raised. Barriers, tokens and
// groups of graphs start anew, and waiting ops of earlier epochs fail.
struct EpochRaised {
  FencingEpoch epoch = 0;
};

// server -> queues: the actor of an input that IteratorGetNext nodes name.
struct ServeInput {
  std::string name;
  caf::actor input;
};

// shard -> itself: apply the gradients that are held, if they are still those.
struct ApplyHeld {
  std::uint64_t batch = 0;
};

// coordinator -> shard: the global step has moved on.
struct SetGlobalStep {
  std::string variable;
  std::int64_t value = 0;
  FencingEpoch epoch = 0;
};
// coordinator -> shard and back: asks for the global step.
struct AskGlobalStep {
  std::string variable;
};
struct GlobalStepIs {
  std::string variable;
  std::int64_t value = 0;
  FencingEpoch epoch = 0;
  Status status{};  // why there is no value
};

// peer, server -> master, worker, coordinator, shard, switchboard: the task cannot be reached, or has
// left or restarted.
struct PeerLost {
  TaskId task{};
  std::uint64_t incarnation = 0;  // the lost one; 0 = any, the task cannot be reached
  Status reason;

  bool concerns(const Sender& other) const {
    return other.task == task &&
           (incarnation == 0 || other.incarnation == 0 || other.incarnation == incarnation);
  }
};
// server -> coordinator, collectives: the job is over, so that whoever waits for other replicas, now or
// later, would wait for ever.
struct JobOver {
  Status reason;
};
// server -> master: every running step fails with this.
struct StopSteps {
  Status reason;
};
// rendezvous -> worker: tensors of these steps have waited long without a Recv. The worker gives up the
// steps among them that are not running.
struct Unclaimed {
  std::vector<StepId> steps;
};
// server -> master, worker, rendezvous: asks for counts of what they hold.
struct Census {
  std::function<void(HeldState)> answer;
};

// client -> master: a request.
struct MasterCall {
  MasterRequest request;
  MasterReplyFn reply;
};

// server -> peer: the task has spoken as this incarnation. A link to an earlier incarnation is dead,
// even if that has not been noticed yet.
struct Met {
  std::uint64_t incarnation = 0;
};

// server -> peer: the task expects a sign of life, and there is no connection to it.
struct SayAlive {};

// server -> peer: watch from now on whether the task is there (PeerOptions::presence).
struct Attend {};

// server -> peer: deliver earlier messages, then end.
struct Leave {
  bool at_once = false;      // the task that is left ends, too: nobody hears the last words
  bool job_is_over = false;  // a task that was lost does not come back to hear them
};

// An actor to itself: time has passed.
struct Tick {};

}  // namespace actorflow

#define ACTORFLOW_LOCAL_MESSAGE(type) CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::type)
ACTORFLOW_LOCAL_MESSAGE(Sender)
ACTORFLOW_LOCAL_MESSAGE(StartStep)
ACTORFLOW_LOCAL_MESSAGE(GiveUp)
ACTORFLOW_LOCAL_MESSAGE(LaneIdle)
ACTORFLOW_LOCAL_MESSAGE(AwaitUpdates)
ACTORFLOW_LOCAL_MESSAGE(UpdatesMade)
ACTORFLOW_LOCAL_MESSAGE(Completed)
ACTORFLOW_LOCAL_MESSAGE(Fire)
ACTORFLOW_LOCAL_MESSAGE(AwaitTensor)
ACTORFLOW_LOCAL_MESSAGE(StateCall)
ACTORFLOW_LOCAL_MESSAGE(EpochRaised)
ACTORFLOW_LOCAL_MESSAGE(ServeInput)
ACTORFLOW_LOCAL_MESSAGE(SetGlobalStep)
ACTORFLOW_LOCAL_MESSAGE(ApplyHeld)
ACTORFLOW_LOCAL_MESSAGE(AskGlobalStep)
ACTORFLOW_LOCAL_MESSAGE(GlobalStepIs)
ACTORFLOW_LOCAL_MESSAGE(PeerLost)
ACTORFLOW_LOCAL_MESSAGE(JobOver)
ACTORFLOW_LOCAL_MESSAGE(StopSteps)
ACTORFLOW_LOCAL_MESSAGE(Unclaimed)
ACTORFLOW_LOCAL_MESSAGE(Census)
ACTORFLOW_LOCAL_MESSAGE(HeldState)
ACTORFLOW_LOCAL_MESSAGE(Met)
ACTORFLOW_LOCAL_MESSAGE(SayAlive)
ACTORFLOW_LOCAL_MESSAGE(Attend)
ACTORFLOW_LOCAL_MESSAGE(MasterCall)
ACTORFLOW_LOCAL_MESSAGE(Leave)
ACTORFLOW_LOCAL_MESSAGE(Tick)
ACTORFLOW_LOCAL_MESSAGE(Message)
ACTORFLOW_LOCAL_MESSAGE(RegisterGraph)
ACTORFLOW_LOCAL_MESSAGE(GraphRegistered)
ACTORFLOW_LOCAL_MESSAGE(DeregisterGraph)
ACTORFLOW_LOCAL_MESSAGE(RunGraph)
ACTORFLOW_LOCAL_MESSAGE(StepDone)
ACTORFLOW_LOCAL_MESSAGE(AbortStep)
ACTORFLOW_LOCAL_MESSAGE(TensorDelivery)
ACTORFLOW_LOCAL_MESSAGE(GradientApplied)
ACTORFLOW_LOCAL_MESSAGE(GetStatus)
ACTORFLOW_LOCAL_MESSAGE(TaskStatus)
ACTORFLOW_LOCAL_MESSAGE(ClearContainers)
ACTORFLOW_LOCAL_MESSAGE(ContainersCleared)
ACTORFLOW_LOCAL_MESSAGE(Undelivered)
ACTORFLOW_LOCAL_MESSAGE(ActorMessage)
#undef ACTORFLOW_LOCAL_MESSAGE
