// Philox4x32-10: random numbers as a function of a key and a position. Salmon, Moraes, Dror and Shaw,
// Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011).
#pragma once

#include <cstdint>

#include "kernels/devices/host_device.h"

namespace actorflow {

struct PhiloxBlock {
  std::uint32_t words[4];
};

// The two words of the key, which change from round to round.
struct PhiloxKey {
  std::uint32_t first, second;
  int round = 0;

  ACTORFLOW_HOST_DEVICE explicit PhiloxKey(std::uint64_t key)
      : first(static_cast<std::uint32_t>(key)), second(static_cast<std::uint32_t>(key >> 32U)) {}
  ACTORFLOW_HOST_DEVICE bool done() const { return round == 10; }
  ACTORFLOW_HOST_DEVICE void next() {
    first += 0x9E3779B9;
    second += 0xBB67AE85;
    ++round;
  }
};

ACTORFLOW_HOST_DEVICE inline void philox_round(const PhiloxKey& key, std::uint32_t& a, std::uint32_t& b,
                                               std::uint32_t& c, std::uint32_t& d) {
  const std::uint64_t product_a = std::uint64_t{0xD2511F53} * a;
  const std::uint64_t product_c = std::uint64_t{0xCD9E8D57} * c;
  a = static_cast<std::uint32_t>(product_c >> 32U) ^ b ^ key.first;
  b = static_cast<std::uint32_t>(product_c);
  c = static_cast<std::uint32_t>(product_a >> 32U) ^ d ^ key.second;
  d = static_cast<std::uint32_t>(product_a);
}

// Four random words for a 64-bit key and a 128-bit position, low half first.
ACTORFLOW_HOST_DEVICE inline PhiloxBlock philox(std::uint64_t key, std::uint64_t low,
                                                std::uint64_t high) {
  PhiloxBlock x{{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32U),
                 static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32U)}};
  for (PhiloxKey k(key); !k.done(); k.next())
    philox_round(k, x.words[0], x.words[1], x.words[2], x.words[3]);
  return x;
}

}  // namespace actorflow
