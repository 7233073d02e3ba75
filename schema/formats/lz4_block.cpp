#include "schema/formats/lz4_block.h"

#include <lz4.h>

#include <algorithm>
#include <limits>

namespace actorflow {
namespace {

constexpr std::size_t try_again_after = 15;
constexpr std::size_t tiny_bytes = 256;

int int_size(std::span<const std::byte> bytes) {
  return static_cast<int>(std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max()));
}

}  // namespace

std::size_t compress_lz4_block(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.size() > LZ4_MAX_INPUT_SIZE) return 0;
  return static_cast<std::size_t>(LZ4_compress_default(reinterpret_cast<const char*>(from.data()),
                                                       reinterpret_cast<char*>(to.data()),
                                                       int_size(from), int_size(to)));
}

bool decompress_lz4_block(std::span<const std::byte> from, std::span<std::byte> to) {
  const int size = LZ4_decompress_safe(reinterpret_cast<const char*>(from.data()),
                                       reinterpret_cast<char*>(to.data()), int_size(from), int_size(to));
  return size >= 0 && static_cast<std::size_t>(size) == to.size();
}

std::span<const std::byte> Lz4WhereItPays::shrunk(std::span<const std::byte> block) {
  if (block.size() < tiny_bytes) return block;
  if (!pays_ && left_alone_ < try_again_after) {
    ++left_alone_;
    return block;
  }
  memory_.resize(block.size() / 5 * 4);
  const std::size_t size = compress_lz4_block(block, memory_);
  left_alone_ = 0;
  pays_ = size > 0;
  return pays_ ? std::span<const std::byte>(memory_).first(size) : block;
}

}  // namespace actorflow
