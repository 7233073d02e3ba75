// Servers behind real ports on loopback, and their clients.
#pragma once

#include <string>

#include "actors/task/server.h"
#include "kernels/core/kernel.h"
#include "schema/rpc/master_client.h"
#include "test/support/ports.h"

namespace actorflow::test {

inline Server single_server(const std::string& address = "127.0.0.1:0") {
  ServerOptions options;
  options.cluster = ClusterSpec{{"local", {address}}};
  options.job = "local";
  return Server(std::move(options));
}

// An address on which nobody listens, nor will.
inline std::string nobodys_address() { return free_address(); }

// A target that reaches the server through its port.
inline std::string through_port(const Server& server) {
  return "actorflow://localhost" + server.target().substr(server.target().rfind(':'));
}

// A client of the protocol itself.
inline MasterClient client_of(const Server& server) {
  return MasterClient("localhost" + server.target().substr(server.target().rfind(':')),
                      cpu_device().allocator(), 60'000);
}

// A master behind a port with a session whose graph is the constant "x".
struct OneSession {
  OneSession() {
    g.constant(2, "x");
    const auto created = client.call(CreateSession{g.def()});
    handle = created.session;
    version = created.graph_version;
  }
  Status run(const std::string& fetch) {
    RunStep step;
    step.session = handle;
    step.fetches = {fetch};
    return client.call(step).status;
  }

  Server server = single_server();
  MasterClient client = client_of(server);
  Graph g;
  std::string handle;
  std::int64_t version = 0;
};

}  // namespace actorflow::test
