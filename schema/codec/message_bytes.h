// Messages as blocks of bytes, for networks without sockets and for tests of the codec.
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
// The inverse; tensors get memory of `allocator`. Throws invalid_argument for bytes that are not
// understood.
Message decode_message(std::span<const std::byte> bytes, const OpRegistry& ops, Allocator& allocator);

// The kind of a message, for people: "RunGraph", ...
std::string_view name_of(const Message& message);

}  // namespace actorflow
