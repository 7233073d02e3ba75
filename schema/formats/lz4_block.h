// Blocks of bytes compressed by LZ4, for those who keep both sizes themselves: without header and
// checksum.
#pragma once

#include <cstddef>
#include <span>

namespace actorflow {

// Returns how many bytes of `to` it has taken, 0 if they do not fit. `from` has less than 2 GiB.
std::size_t compress_lz4_block(std::span<const std::byte> from, std::span<std::byte> to);
// Fills `to`, which has the size of what was compressed. False if the bytes are no such block.
bool decompress_lz4_block(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace actorflow
