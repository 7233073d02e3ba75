// Blocks of bytes compressed by LZ4 or zstd, for those who keep both sizes and the kind themselves:
// without checksum. zstd is used at its lowest level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schema/formats/compression.h"

namespace actorflow {

bool compresses_blocks(Compression kind);  // LZ4 and zstd do

// Returns how many bytes of `to` it has taken, 0 if they do not fit. `from` has less than 2 GiB.
// REQUIRES: compresses_blocks(kind).
std::size_t compress_block(Compression kind, std::span<const std::byte> from, std::span<std::byte> to);
// Fills `to`, which has the size of what was compressed. False if the bytes are no such block. Takes no
// memory for what they announce.
bool decompress_block(Compression kind, std::span<const std::byte> from, std::span<std::byte> to);
// The most bytes into which one compressed byte can expand; 0 for a kind without blocks.
std::uint64_t most_growth(Compression kind);

// Compresses blocks as long as it pays: when a block does not shrink by a fifth, the next 15 stay as
// they are. Tiny blocks always stay as they are, and do not count for that.
class BlocksWhereItPays {
 public:
  // The block compressed, until the next call; or the block itself, which is larger.
  std::span<const std::byte> shrunk(Compression kind, std::span<const std::byte> block);

 private:
  std::vector<std::byte> memory_;
  std::size_t left_alone_ = 0;  // blocks, since one did not shrink
  bool pays_ = true;
};

}  // namespace actorflow
