// The master's side of master.capnp. Internal to schema/: includes Cap'n Proto.
#pragma once

#include <memory>

#include "schema/rpc/port/peer_server.h"

namespace actorflow {

// Forwards the calls on this connection to its task's Inbox::master.
wire::Master::Client make_master_service(std::shared_ptr<Connection> connection);

}  // namespace actorflow
