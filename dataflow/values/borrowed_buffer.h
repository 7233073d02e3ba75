// Buffers over bytes that belong to something else.
#pragma once

#include <cstddef>

#include "dataflow/values/buffer.h"

namespace actorflow {

// The owner of buffers that keep their bytes alive themselves, and end with their last reference. Lives
// as long as the program.
Allocator& borrower();

// Some bytes of a buffer, which keep all of it alive. As long as they are referred to, neither they nor
// the whole are exclusive. REQUIRES: within the buffer, which is on the host.
BufferRef part_of(BufferRef whole, std::size_t begin, std::size_t size_bytes);

}  // namespace actorflow
