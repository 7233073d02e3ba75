// What clients say to a master, as plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dataflow/error.h"
#include "dataflow/graph.h"
#include "dataflow/tensor.h"

namespace actorflow {

struct CreateSession {
  GraphDef graph;
};
struct RunStep {
  std::string session;
  std::vector<std::pair<std::string, Tensor>> feeds;  // tensor name ("x" or "x:0") and value
  std::vector<std::string> fetches;                   // tensor names
  std::vector<std::string> targets;                   // names of nodes to run without a result
  std::int64_t timeout_ms = 0;                        // 0 = none
  std::int64_t epoch = 0;                             // of the session (FencingEpoch)
};
struct CloseSession {
  std::string session;
};
struct ListDevices {};

using MasterRequest = std::variant<CreateSession, RunStep, CloseSession, ListDevices>;

struct MasterReply {
  Status status;
  std::string session;               // of CreateSession
  std::vector<Tensor> fetches;       // of RunStep, in the order of the request
  std::vector<std::string> devices;  // of ListDevices, full names
};

// Answers once, from any thread.
using MasterReplyFn = std::function<void(MasterReply)>;
using MasterHandler = std::function<void(MasterRequest, MasterReplyFn)>;

}  // namespace actorflow
