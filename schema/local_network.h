// A Network within one process: it passes messages as values, without encoding or copying.
#pragma once

#include <memory>

#include "schema/link.h"

namespace actorflow {

// Links reach the listeners of the same network; an address is any "host:port", port 0 picks a free one.
// Callbacks run on the thread that causes them: `received` on a sender's, `up` within connect(). Never
// two of one listener or link run at a time, and none while the network holds a lock. What a callback
// throws reaches the thread that runs it, when the callbacks that waited for it have run, too. Links and
// listeners may outlive the network.
std::unique_ptr<Network> make_local_network();

}  // namespace actorflow
