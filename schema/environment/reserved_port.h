// A port that this process can name before it listens there.
#pragma once

#include <cstdint>

#include "schema/file_descriptor.h"

namespace actorflow {

// While the object lives, the system gives its TCP port to nobody who asks for any port. Who names it,
// as a task's server does, may listen there. Not thread-safe.
class ReservedPort {
 public:
  ReservedPort();  // throws resource_exhausted

  std::uint16_t number() const { return number_; }

 private:
  FileDescriptor socket_;
  std::uint16_t number_ = 0;
};

}  // namespace actorflow
