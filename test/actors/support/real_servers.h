// Servers behind real ports on loopback, and ways to them.
#pragma once

#include <string>
#include <string_view>

#include "actors/server.h"
#include "kernels/kernel.h"
#include "schema/master_client.h"

namespace actorflow::test {

inline Server single_server(const std::string& address = "127.0.0.1:0") {
  ServerOptions options;
  options.cluster = ClusterSpec{{"local", {address}}};
  options.job = "local";
  return Server(std::move(options));
}

// Where nobody listens.
inline std::string nobodys_address() {
  const Server gone = single_server();
  return gone.target().substr(std::string_view("actorflow://").size());
}

// The same server under another name, which leads through its port.
inline std::string through_port(const Server& server) {
  return "actorflow://localhost" + server.target().substr(server.target().rfind(':'));
}

// A client of the protocol itself.
inline MasterClient client_of(const Server& server) {
  return MasterClient("localhost" + server.target().substr(server.target().rfind(':')),
                      cpu_device().allocator(), 60'000);
}

}  // namespace actorflow::test
