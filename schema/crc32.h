// CRC-32 as gzip, PNG and gensort have it. For file formats of our own: checksum.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace actorflow {

// ISO 3309: crc32("123456789") = 0xcbf43926.
std::uint32_t crc32(std::span<const std::byte> bytes);

}  // namespace actorflow
