// The messages between tasks, as plain values. schema/codec/ turns them into Cap'n Proto and back.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/graph.h"
#include "dataflow/graph/step_trace.h"
#include "dataflow/values/error.h"
#include "dataflow/values/tensor.h"
#include "schema/session_options.h"

namespace actorflow {

// The identity of a task. The incarnation is different for each start of the task.
struct TaskIdentity {
  TaskName name;
  std::uint64_t incarnation = 0;
};

using StepId = std::uint64_t;
// Guards state against steps of an earlier life of the job: messages of an older epoch than the task's
// change nothing there. Every task begins with 0; the chief raises it before it restores.
using FencingEpoch = std::int64_t;
// An argument or result of a partition, by the index of its Arg or Retval node.
using Slot = std::pair<std::int32_t, Tensor>;

// master -> worker: keep this partition; answered by GraphRegistered with the same request number.
struct RegisterGraph {
  std::uint64_t request = 0;
  GraphDef graph;
  bool cuda_graphs = false;             // whether nodes on a GPU are joined; SessionOptions::cuda_graphs
  Executor executor = Executor::lanes;  // SessionOptions::executor
};
struct GraphRegistered {
  std::uint64_t request = 0;
  Status status;
  std::uint64_t handle = 0;
};
struct DeregisterGraph {
  std::uint64_t handle = 0;
};

// What a task does about the step after the one that it is asked to run, whose number is one higher.
enum class NextStep : std::uint8_t {
  unknown,    // nothing: it may never come
  announced,  // keeps the tensors that come for it
  begun,      // begins it by itself, and so on, when it has ended this one without an error
};
// master -> worker: run the partition once; answered by StepDone. So is each step that the task begins
// by itself.
struct RunGraph {
  std::uint64_t handle = 0;
  StepId step = 0;
  FencingEpoch epoch = 0;
  std::vector<Slot> args;
  bool trace = false;
  NextStep next = NextStep::unknown;
};
// The trace of a part of a step, by its task's steady clock.
struct TaskTrace {
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;
  std::vector<NodeTrace> nodes;
};
struct StepDone {
  StepId step = 0;
  Status status;
  std::vector<Slot> retvals;
  TaskTrace trace = {};  // empty unless the step is traced
};
// master -> worker: give the step up; everything that waits in it fails with this reason.
struct AbortStep {
  StepId step = 0;
  Status reason;
};

// master -> worker: a request for the task's devices; answered by TaskStatus with the same request
// number.
struct GetStatus {
  std::uint64_t request = 0;
};
struct TaskStatus {
  std::uint64_t request = 0;
  std::vector<DeviceInfo> devices;
};
// master -> shard: forget the variables of these containers, and those of the isolated session unless it
// is empty; answered by ContainersCleared with the same request number.
struct ClearContainers {
  std::uint64_t request = 0;
  std::vector<std::string> containers;
  std::string session;
};
struct ContainersCleared {
  std::uint64_t request = 0;
};

// Send -> Recv: a tensor of a step on a channel of the partitioned graph.
struct TensorDelivery {
  StepId step = 0;
  std::uint32_t channel = 0;
  Tensor tensor;
};

// Replaces a message that a link cannot carry, because it is over a limit of the receiver or the
// receiver has no memory for it. Whatever waits for the message fails with the reason, and the link goes
// on. (A StepDone is replaced by one with the reason and no results, an ActorMessage by one with the
// reason and no tensors.)
struct Undelivered {
  enum class What : std::uint8_t { graph, run, tensor };  // RegisterGraph, RunGraph, TensorDelivery
  What what = What::tensor;
  std::uint64_t number = 0;  // the request of a graph; else the step
  Status reason;
};

// any actor -> an actor of another task, or of its own, by its name there.
struct ActorMessage {
  std::string to;
  std::string from;
  std::string type;           // what it says, for the actors to agree on
  std::uint64_t request = 0;  // what an answer repeats; 0: nobody waits for one
  Tensor content;             // a small record: uint8, one dimension, or no tensor
  Tensor payload;             // what is large, the same
  // Not ok: an answer that says why there is none; or the link could not carry content and payload, for
  // this reason, and left them out.
  Status status;
};

// shard -> coordinator: the mean gradient of `accumulator` for the step after `global_step` has been
// applied. The coordinator is named by the variable that holds its global step.
struct GradientApplied {
  std::string coordinator;
  std::string accumulator;
  std::int64_t global_step = 0;
  FencingEpoch epoch = 0;
};

// replica -> chief: the replica has finished its part of the training.
struct ReplicaDone {};
// chief -> all tasks: the job is over, leave.
struct Shutdown {
  std::string reason;
  Code code = Code::ok;  // otherwise the job has failed for this reason
};

// In both directions, about every second while there is a connection: the sender is alive, and asks the
// receiver for the same.
struct Heartbeat {};

using Message =
    std::variant<RegisterGraph, GraphRegistered, DeregisterGraph, RunGraph, StepDone, AbortStep,
                 TensorDelivery, GradientApplied, ReplicaDone, Shutdown, GetStatus, TaskStatus,
                 ClearContainers, ContainersCleared, Heartbeat, Undelivered, ActorMessage>;

}  // namespace actorflow
