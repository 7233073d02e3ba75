#include "schema/crc32.h"

#include <isa-l/crc.h>

namespace actorflow {

std::uint32_t crc32(std::span<const std::byte> bytes) {
  return crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace actorflow
