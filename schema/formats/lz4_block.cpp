#include "schema/formats/lz4_block.h"

#include <lz4.h>

#include <algorithm>
#include <limits>

namespace actorflow {
namespace {

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

}  // namespace actorflow
