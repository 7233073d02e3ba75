#include "schema/formats/byte_source.h"

#include <algorithm>
#include <vector>

namespace actorflow {

std::uint64_t ByteSource::skip(std::uint64_t bytes) {
  std::vector<std::byte> unused(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 1 << 18)));
  std::uint64_t skipped = 0;
  while (skipped < bytes) {
    const auto part = std::min<std::uint64_t>(bytes - skipped, unused.size());
    const std::size_t got = read(std::span(unused).first(static_cast<std::size_t>(part)));
    skipped += got;
    if (got < part) break;
  }
  return skipped;
}

}  // namespace actorflow
