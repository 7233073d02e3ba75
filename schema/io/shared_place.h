// Reading what another process has in memory that it shares, without a message for it: both sides know a
// block of that memory, which has travelled as a tensor.
#pragma once

#include <cstdint>
#include <optional>

#include "dataflow/values/buffer.h"

namespace actorflow {

// Where the bytes are in the memory of which this process has given `block` away; nothing if they are
// not there, or `block` is no shared memory.
std::optional<std::uint64_t> place_of(const BufferRef& bytes, const BufferRef& block);
// The bytes at that place, where `block` has come from their process. They keep the memory mapped, and
// its owner may change them at any time. Throws invalid_argument if there is no such place.
BufferRef bytes_at(std::uint64_t place, std::size_t size_bytes, const BufferRef& block);
// For a block that is kept for long: its owner, who leaves it as it is while it is here, no longer
// counts it as a tensor on its way (RpcOptions::max_incoming_bytes). False if it is no memory of another
// process.
bool stop_counting(const BufferRef& block);

}  // namespace actorflow
