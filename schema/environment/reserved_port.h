// A port that this process can name before it listens there.
#pragma once

#include <cstdint>

#include "schema/file_descriptor.h"

namespace actorflow {

// Reserves a TCP port for the life of the object: the system gives it to no program that asks for any
// free port, but a program that names it, as a task's server does, may listen there. Not thread-safe.
class ReservedPort {
 public:
  ReservedPort();  // throws resource_exhausted

  std::uint16_t number() const { return number_; }

 private:
  FileDescriptor socket_;
  std::uint16_t number_ = 0;
};

}  // namespace actorflow
