// The service of a port (worker.capnp). Internal to schema/: includes Cap'n Proto.
#pragma once

#include <memory>

#include "schema/rpc/port/connection.h"

namespace actorflow {

// The bootstrap interface of a connection.
wire::Task::Client make_task_service(std::shared_ptr<Connection> connection);

}  // namespace actorflow
