#include "schema/file_descriptor.h"

#include <unistd.h>

namespace actorflow {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace actorflow
