// The seam between actors and chance: incarnations and step ids come from here.
#pragma once

#include <cstdint>

namespace actorflow {

// Thread-safe.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
};

// Seeded by the operating system.
Random& system_random();

}  // namespace actorflow
