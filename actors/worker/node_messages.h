// The messages between a conductor and the actors of its nodes (conductor.h).
#pragma once

#include <caf/actor_addr.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/runtime/clock.h"

namespace actorflow {

// conductor -> node actor: the step begins; answered by one NodeDone.
struct OpenFrame {
  StepId step = 0;
  caf::actor_addr conductor;  // weak, or a step under way would keep its own actors
  FencingEpoch epoch = 0;
  bool trace = false;
  Tensor argument{};  // of an Arg; invalid if the step has none for it
};
// node actor -> node actor: the tensor of an edge of the graph.
struct TensorEdge {
  StepId step = 0;
  std::int32_t input = 0;  // of the node that receives
  Tensor tensor;
};
// node actor -> node actor: a control edge.
struct ControlEdge {
  StepId step = 0;
};
// node actor -> conductor: the node has sent its outputs, has failed, or has been told to give up. It
// does nothing more in this step.
struct NodeDone {
  StepId step = 0;
  NodeId node = -1;
  Status status{};
  Tensor result{};  // of a Retval
  // Of a traced step.
  Clock::time_point began{}, ended{};
  std::int64_t bytes_out = 0;
};

// worker -> itself: the task has been recorded for the time that the node takes.
struct EndOfRecord {
  ReplyTo node;
};

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::OpenFrame)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::TensorEdge)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::ControlEdge)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::NodeDone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::EndOfRecord)
