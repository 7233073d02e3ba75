#include "schema/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <climits>

namespace actorflow {

// ISA-L counts bytes in an int, does not write to its "unsigned char*", and leaves the inversions at
// both ends to its caller.
std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0u;
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(bytes.size(), INT_MAX);
    auto* begin = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    crc = crc32_iscsi(begin, static_cast<int>(size), crc);
    bytes = bytes.subspan(size);
  }
  return ~crc;
}

}  // namespace actorflow
