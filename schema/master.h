// Requests of clients to a master, and its replies, as plain values.
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
#include "schema/session_options.h"

namespace actorflow {

struct CreateSession {
  GraphDef graph;
  SessionOptions options = {};
};
// Appends nodes to a session's graph; their inputs and controls are positions in the extended graph.
// `version` is the version that the last change of the graph returned.
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
// Lists the devices that a session can use; without a session, those of the whole cluster.
struct ListDevices {
  std::string session = {};
};
// Asks for the device of each node of a session's graph.
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

// Receives the answer: called once, from any thread.
using MasterReplyFn = std::function<void(MasterReply)>;
using MasterHandler = std::function<void(MasterRequest, MasterReplyFn)>;

}  // namespace actorflow
