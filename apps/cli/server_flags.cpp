#include "apps/cli/server_flags.h"

#include "apps/cli/flag_seconds.h"
#include "apps/cli/flag_table.h"
#include "apps/cli/security_flags.h"

namespace actorflow {
namespace {

const FlagTable<ServerFlags>& table() {
  static const auto flags =
      FlagTable<ServerFlags>()
          .value("threads", &ServerFlags::threads,
                 "Threads that compute; 0 = one per core. Fewer where several tasks share a machine",
                 nonnegative_number())
          .value("heartbeat-timeout", &ServerFlags::heartbeat_timeout_s,
                 "Seconds of silence after which a connected task counts as lost; 0 = never",
                 nonnegative_number())
          .value("spin-us", &ServerFlags::spin_us,
                 "Microseconds for which the network's thread looks for the next message before it "
                 "sleeps; about 50 where a core is left over",
                 nonnegative_number())
          .size("max-incoming-bytes", &ServerFlags::max_incoming_bytes,
                "Memory for large tensors of one other task or client, for example 16GiB")
          .size("incoming-budget-bytes", &ServerFlags::incoming_budget_bytes,
                "Memory for large tensors of all other tasks together; 0 = half of the machine's memory")
          .value("max-connections", &ServerFlags::max_connections,
                 "Tasks and clients that may be connected to this task", positive_number());
  return flags;
}

}  // namespace

void ServerFlags::add_to(Command& command) {
  add_security(command, credentials, insecure);
  table().add_to(command, *this);
}

ServerOptions ServerFlags::options() const {
  ServerOptions options;
  options.heartbeat_timeout_ms = milliseconds_of(heartbeat_timeout_s);
  options.credentials = credentials;
  options.insecure = insecure;
  options.num_threads = threads;
  options.spin_us = spin_us;
  options.max_incoming_bytes = max_incoming_bytes;
  options.incoming_budget_bytes = incoming_budget_bytes;
  options.max_connections = max_connections;
  return options;
}

}  // namespace actorflow
