// The seam between actors and randomness: the source of incarnations and step ids.
#pragma once

#include <cstdint>

namespace actorflow {

// A source of random numbers. Thread-safe.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
};

// Seeded by the operating system.
Random& system_random();

}  // namespace actorflow
