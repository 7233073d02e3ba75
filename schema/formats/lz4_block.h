// Blocks of bytes compressed by LZ4, for those who keep both sizes themselves: without header and
// checksum.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace actorflow {

// Returns how many bytes of `to` it has taken, 0 if they do not fit. `from` has less than 2 GiB.
std::size_t compress_lz4_block(std::span<const std::byte> from, std::span<std::byte> to);
// Fills `to`, which has the size of what was compressed. False if the bytes are no such block.
bool decompress_lz4_block(std::span<const std::byte> from, std::span<std::byte> to);

// Compresses blocks as long as it pays: where one does not shrink by a fifth, the next 15 stay as they
// are. Tiny blocks always do, and say nothing of others.
class Lz4WhereItPays {
 public:
  // The block compressed, until the next call; or the block itself, which is larger.
  std::span<const std::byte> shrunk(std::span<const std::byte> block);

 private:
  std::vector<std::byte> memory_;
  std::size_t left_alone_ = 0;  // blocks, since one did not shrink
  bool pays_ = true;
};

}  // namespace actorflow
