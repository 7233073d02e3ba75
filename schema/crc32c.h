// CRC-32C (Castagnoli), for file formats of others. For our own files: checksum.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace actorflow {

// As RFC 3720 (iSCSI), B.4: crc32c("123456789") = 0xe3069283.
std::uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace actorflow
