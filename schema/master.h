// What clients say to a master, as plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/values/error.h"
#include "dataflow/values/tensor.h"
#include "schema/message.h"

namespace actorflow {

// How a session runs its steps.
struct SessionOptions {
  // Full or partial names of devices. Tasks that none of them matches are neither used nor contacted; the
  // task that the session is opened on always takes part. Empty: every task does.
  std::vector<std::string> device_filters = {};
  // Variables of its own, which no other session sees and which go when it is closed.
  bool isolate = false;
  // A node that asks for a device that its task has not, or that its op cannot run on, gets a CPU of that
  // task, as TensorFlow 2 does. Otherwise that is an error.
  bool allow_soft_placement = true;
  // Of steps that have no timeout of their own; 0 = none.
  std::int64_t step_timeout_ms = 0;
  // What a GPU can compute without the host in between, it is given at once: as CUDA graphs. For steps
  // of many small kernels. Such a part starts when all of its inputs are there and gives its results
  // together.
  bool cuda_graphs = false;
  // With node_actors every node is an actor and every edge a message, also where one activation could do
  // all: to see how steps run, and for schedules to explore. Far slower; same results, bit by bit. Not
  // together with cuda_graphs.
  Executor executor = Executor::lanes;
  // A folder with ca.crt, client.crt and client.key, for a target in another process that asks for them;
  // the master hears nothing of it. Empty: a plain connection.
  std::string credentials = {};
};

struct CreateSession {
  GraphDef graph;
  SessionOptions options = {};
};
// Appends nodes whose inputs and controls are positions in the session's graph with them. `version` is
// that of the graph, as the last change has returned it.
struct ExtendSession {
  std::string session;
  std::vector<Node> nodes;
  std::int64_t version = 0;
};
struct RunStep {
  std::string session;
  std::vector<std::pair<std::string, Tensor>> feeds;  // tensor name ("x" or "x:0") and value
  std::vector<std::string> fetches;                   // tensor names
  std::vector<std::string> targets;                   // names of nodes to run without a result
  std::int64_t timeout_ms = 0;                        // 0 = the session's
  std::int64_t epoch = 0;                             // of the session (FencingEpoch)
  bool trace = false;
};
// A kind of step that is planned now and run many times.
struct MakeCallable {
  std::string session;
  std::vector<std::string> feeds;  // names, as in RunStep
  std::vector<std::string> fetches;
  std::vector<std::string> targets;
};
struct RunCallable {
  std::string session;
  std::uint64_t callable = 0;
  std::vector<Tensor> feeds;  // in the order of MakeCallable
  std::int64_t timeout_ms = 0;
  std::int64_t epoch = 0;
  bool trace = false;
};
struct ReleaseCallable {
  std::string session;
  std::uint64_t callable = 0;
};
struct CloseSession {
  std::string session;
};
// The devices that a session can use; without a session those of the whole cluster.
struct ListDevices {
  std::string session = {};
};
// Where the nodes of a session's graph are placed.
struct DescribePlacement {
  std::string session;
};
// Closes every session of the task, then clears containers ("" is the default one) on all tasks that the
// filters allow.
struct Reset {
  std::vector<std::string> containers;
  std::vector<std::string> device_filters;
};

using MasterRequest = std::variant<CreateSession, ExtendSession, RunStep, MakeCallable, RunCallable,
                                   ReleaseCallable, CloseSession, ListDevices, DescribePlacement, Reset>;

struct MasterReply {
  Status status = {};
  std::string session = {};                 // of CreateSession
  std::int64_t graph_version = 0;           // of CreateSession, ExtendSession
  std::uint64_t callable = 0;               // of MakeCallable
  std::vector<Tensor> fetches = {};         // of RunStep and RunCallable, in the order of the request
  StepTrace trace = {};                     // of traced steps
  std::vector<DeviceInfo> devices = {};     // of ListDevices
  std::vector<std::string> placement = {};  // of DescribePlacement: the device of each node
};

// Answers once, from any thread.
using MasterReplyFn = std::function<void(MasterReply)>;
using MasterHandler = std::function<void(MasterRequest, MasterReplyFn)>;

}  // namespace actorflow
