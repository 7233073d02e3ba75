// Random draws that are the same on every machine: std::shuffle and the distributions of the standard
// library are not.
#pragma once

#include <cstdint>
#include <random>

namespace actorflow {

// The random engine of a pass, which does not depend on earlier passes.
inline std::mt19937_64 engine_of(std::uint64_t seed, std::int64_t pass) {
  return std::mt19937_64(seed * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(pass));
}

// A number below `bound`, by the high half of a product (Lemire 2019, without the rejection step: the
// bias is below 2^-32 * bound).
inline std::uint32_t draw_below(std::mt19937_64& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>((random() >> 32) * bound >> 32);
}

}  // namespace actorflow
