// Calls of nodes to other actors, for lanes and for nodes' own actors.
#pragma once

#include <memory>
#include <vector>

#include "actors/core/executable.h"
#include "actors/core/task_context.h"

namespace actorflow {

// Asks the node's owner - shard, coordinator, queues or, for a Recv, the rendezvous - to do its work.
// The result is sent to `reply_to`. REQUIRES: it is neither a Send nor computed by a kernel or a lane.
void call_owner(const TaskContext& task, const std::shared_ptr<const Executable>& executable,
                ReplyTo reply_to, FencingEpoch epoch, std::vector<Tensor> inputs);

// Sends the input of a Send to its task.
void send_tensor(const TaskContext& task, StepId step, const ExecutableNode& item, Tensor tensor);

// Takes the argument of that index out; an invalid tensor if there is none.
Tensor take_slot(std::vector<Slot>& args, std::int64_t index);

// The value of an Arg on its device. Throws invalid_argument if the step has no argument for it.
Tensor fed_value(const ExecutableNode& item, Tensor argument);

// Releases waiting tokens, gradients and elements of the step; drops its tensors in flight. Call it
// after the last request of a node.
void release_step(const TaskContext& task, const GiveUp& message);

// How a runner's step was begun, for those who hear of its end.
struct StepOrigin {
  TaskId master{};
  bool goes_on = false;  // StartStep::goes_on
};
// Tells the worker, then the master, that a step of that executable is over: when the client hears of it
// and starts its next step, the runner is free. Of a step that goes on the worker tells the master, with
// what the next one sends first; an error is told at once.
void report_end(const TaskContext& task, const StepOrigin& origin, const Executable& executable,
                StepDone done);

}  // namespace actorflow
