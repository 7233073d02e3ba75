// The flags of a task's server that `actorflow server` and `trainer` share.
#pragma once

#include <string>

#include "actors/task/server.h"
#include "schema/command_line/command_line.h"

namespace actorflow {

// A flag is a member here and a row of server_flags.cpp.
struct ServerFlags {
  std::string credentials;
  bool insecure = false;
  int threads = 0;
  double heartbeat_timeout_s = 5;
  std::int64_t spin_us = ServerOptions{}.spin_us;
  std::size_t max_incoming_bytes = default_max_incoming_bytes;
  std::size_t incoming_budget_bytes = 0;
  int max_connections = default_max_connections;

  void add_to(Command& command);
  // The options that these flags set: not the cluster, the task, and how long to wait for others.
  ServerOptions options() const;
};

}  // namespace actorflow
