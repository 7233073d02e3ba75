// A message as one block of bytes: for networks that are not sockets, and for tests of the codec.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "schema/message.h"

namespace actorflow {

class OpRegistry;

// The Envelope of worker.capnp in Cap'n Proto's standard framing, with all tensors inside. Throws
// invalid_argument for a tensor that is not on the host.
std::vector<std::byte> encode_message(const Message& message);
// Tensors get memory of `allocator`. Throws invalid_argument for what is not understood.
Message decode_message(std::span<const std::byte> bytes, const OpRegistry& ops, Allocator& allocator);

// "RunGraph", ...: for people.
std::string_view name_of(const Message& message);

}  // namespace actorflow
