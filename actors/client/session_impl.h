// The shared state of a session and its callables. Internal to session.cpp, session_impl.cpp and
// callable.cpp.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/client/master_connection.h"
#include "actors/client/session.h"

namespace actorflow {

// The name of the node that asks whether a variable has a value.
std::string probe_name(const Variable& variable);

// The state of a session. Its graph on the master is that of the program with probes in between.
struct Session::Impl {
  Impl(std::optional<Server> own_server, const std::string& target, std::int64_t connect_timeout_ms,
       const SessionOptions& options, const Graph& program)
      : server(std::move(own_server)),
        connection(target, connect_timeout_ms, options.credentials, options.step_timeout_ms),
        graph(program) {}

  void create(SessionOptions options);
  MasterReply call(MasterRequest request, RunMetadata* metadata = nullptr) const;
  void check_open() const;
  void extend();
  void send_probes();
  void send(std::vector<Node> nodes);
  // The names by which the master knows tensors of the graph. Throw invalid_argument for others; `what`
  // says in the message what they were to be: "fetch".
  std::string name_of(const Output& output, const std::string& what) const;
  std::vector<std::string> names_of(const std::vector<Output>& outputs, const std::string& what) const;
  std::vector<std::string> targets_of(const std::vector<Output>& outputs) const;

  const std::optional<Server> server;  // for a session without a target
  const MasterConnection connection;
  const Graph& graph;
  std::string handle;  // constant once created
  std::atomic<bool> closed{false};
  std::atomic<std::int64_t> epoch{0};
  std::atomic<NodeId> sent{0};  // nodes of the graph that the master has

  std::mutex mutex;               // guards the rest
  std::vector<NodeId> positions;  // of the graph's nodes on the master
  NodeId size = 0;                // of the graph there
  std::size_t probes = 0;         // variables that have one
  std::int64_t version = 0;
};

}  // namespace actorflow
