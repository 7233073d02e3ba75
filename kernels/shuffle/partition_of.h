// Which partition a key belongs to.
#pragma once

#include <cstdint>

namespace actorflow {

// In [0, partitions), by the upper 32 bits of the hash: tables choose their slots by the lower ones, so
// the keys of one partition fill a table evenly. The sizes differ by a part in 2^32 / partitions.
// REQUIRES: partitions > 0 (not checked: called for every record).
constexpr std::uint32_t partition_of(std::uint64_t hash, std::uint32_t partitions) {
  return static_cast<std::uint32_t>((hash >> 32U) * partitions >> 32U);
}

}  // namespace actorflow
