// When files were changed: what a Storage of real or simulated files knows besides.
#pragma once

#include <cstdint>
#include <string>

namespace actorflow {

// Thread-safe. Throws as Storage.
class FileTimes {
 public:
  virtual ~FileTimes() = default;
  // When the bytes of a file were last changed, in nanoseconds since 1970 by the disk's clock.
  virtual std::int64_t changed_ns(const std::string& path) = 0;
};

}  // namespace actorflow
