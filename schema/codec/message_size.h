// How large a message will be when it is sent.
#pragma once

#include <cstddef>

#include "schema/message.h"

namespace actorflow {

// The approximate size of the message, for batching.
std::size_t estimated_bytes(const Message& message);

}  // namespace actorflow
