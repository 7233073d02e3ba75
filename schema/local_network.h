// A Network within one process: messages are passed as values, nothing is encoded or copied.
#pragma once

#include <memory>

#include "schema/link.h"

namespace actorflow {

// Links reach the listeners of the same network; an address is any "host:port", port 0 picks a free
// one. Callbacks run on the thread that causes them: `received` on a sender's, `up` within connect(),
// but never two of one listener or link at a time, and never while this holds a lock. Links and
// listeners may outlive the network.
std::unique_ptr<Network> make_local_network();

}  // namespace actorflow
