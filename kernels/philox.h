// Philox4x32-10: random numbers as a function of a key and a position. Salmon, Moraes, Dror and Shaw,
// Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011).
#pragma once

#include <cstdint>

#include "kernels/host_device.h"

namespace actorflow {

struct PhiloxBlock {
  std::uint32_t words[4];
};

// Four words for the 64-bit key and a 128-bit position, low half first.
ACTORFLOW_HOST_DEVICE inline PhiloxBlock philox(std::uint64_t key, std::uint64_t low,
                                                std::uint64_t high) {
  PhiloxBlock x{{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32U),
                 static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32U)}};
  auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * x.words[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * x.words[2];
    x = {{static_cast<std::uint32_t>(product1 >> 32U) ^ x.words[1] ^ key0,
          static_cast<std::uint32_t>(product1),
          static_cast<std::uint32_t>(product0 >> 32U) ^ x.words[3] ^ key1,
          static_cast<std::uint32_t>(product0)}};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return x;
}

}  // namespace actorflow
