// What the actors of one task say to each other. Messages between tasks are in schema/message.h; inside
// a task they arrive with their Sender in front.
#pragma once

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <memory>
#include <vector>

#include "actors/core/held_state.h"
#include "dataflow/graph/graph.h"
#include "schema/master.h"
#include "schema/message.h"

namespace actorflow {

class Executable;

// A task by its position in the cluster.
enum class TaskId : std::int32_t {};

// Who sent a message: the incarnation is that of the handshake of its connection.
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
};
// worker -> lane or conductor, rendezvous, coordinator, shard, queues; conductor -> node actor: whoever
// waits for something of the step gets the reason.
struct GiveUp {
  StepId step = 0;
  Status reason;
};
// lane or conductor -> worker: the step is over, the sender is free.
struct LaneIdle {
  std::uint64_t graph = 0;
  StepId step = 0;
};

// Where the outcome of work that a lane, or a node's own actor, has given away goes: a Completed for
// that node of the step.
struct ReplyTo {
  caf::actor lane;
  StepId step = 0;
  NodeId node = -1;
};
// -> lane or node actor.
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
// lane or node actor -> shard, coordinator or queues: a node whose work is theirs has fired.
struct StateCall {
  ReplyTo reply_to;
  std::shared_ptr<const Executable> executable;  // keeps `node` alive
  const Node* node = nullptr;
  FencingEpoch epoch = 0;  // of the step
  std::vector<Tensor> inputs;
};
// shard -> coordinator, queues: the task's epoch has been raised; barriers and tokens start anew, and
// nobody of an earlier epoch waits any longer.
struct EpochRaised {
  FencingEpoch epoch = 0;
};

// server -> queues: the actor of an input that IteratorGetNext nodes name.
struct ServeInput {
  std::string name;
  caf::actor input;
};

// coordinator -> shard: the global step has moved on.
struct SetGlobalStep {
  std::string variable;
  std::int64_t value = 0;
  FencingEpoch epoch = 0;
};
// coordinator -> shard and back: where does the global step stand?
struct AskGlobalStep {
  std::string variable;
};
struct GlobalStepIs {
  std::string variable;
  std::int64_t value = 0;
  FencingEpoch epoch = 0;
  Status status{};  // why there is no value
};

// peer -> master, worker, coordinator: the task cannot be reached, or has left or restarted.
struct PeerLost {
  TaskId task{};
  std::uint64_t incarnation = 0;  // that has gone; 0 = whichever, the task cannot be reached
  Status reason;

  bool concerns(const Sender& other) const {
    return other.task == task && (incarnation == 0 || other.incarnation == 0 ||
                                  other.incarnation == incarnation);
  }
};
// server -> master: every running step fails with this.
struct StopSteps {
  Status reason;
};
// rendezvous -> worker: are these steps running? Tensors of theirs have waited long for nobody. The
// worker gives those up that are not.
struct Unclaimed {
  std::vector<StepId> steps;
};
// server -> master, worker, rendezvous: what do you hold?
struct Census {
  std::function<void(HeldState)> answer;
};

// client -> master.
struct MasterCall {
  MasterRequest request;
  MasterReplyFn reply;
};

// server -> peer: the task has spoken as this incarnation. A link to an earlier one is dead, whether that is
// known yet or not.
struct Met {
  std::uint64_t incarnation = 0;
};

// server -> peer: the task wants to hear of us, and there is no connection to it.
struct SayAlive {};

// server -> peer: find out whether the task is there, from now on (PeerOptions::presence).
struct Attend {};

// server -> peer: pass on what was said before, then end.
struct Leave {};

// An actor to itself: time has passed.
struct Tick {};

}  // namespace actorflow

#define ACTORFLOW_LOCAL_MESSAGE(type) CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::type)
ACTORFLOW_LOCAL_MESSAGE(Sender)
ACTORFLOW_LOCAL_MESSAGE(StartStep)
ACTORFLOW_LOCAL_MESSAGE(GiveUp)
ACTORFLOW_LOCAL_MESSAGE(LaneIdle)
ACTORFLOW_LOCAL_MESSAGE(Completed)
ACTORFLOW_LOCAL_MESSAGE(Fire)
ACTORFLOW_LOCAL_MESSAGE(AwaitTensor)
ACTORFLOW_LOCAL_MESSAGE(StateCall)
ACTORFLOW_LOCAL_MESSAGE(EpochRaised)
ACTORFLOW_LOCAL_MESSAGE(ServeInput)
ACTORFLOW_LOCAL_MESSAGE(SetGlobalStep)
ACTORFLOW_LOCAL_MESSAGE(AskGlobalStep)
ACTORFLOW_LOCAL_MESSAGE(GlobalStepIs)
ACTORFLOW_LOCAL_MESSAGE(PeerLost)
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
#undef ACTORFLOW_LOCAL_MESSAGE
