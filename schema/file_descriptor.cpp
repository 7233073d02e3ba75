#include "schema/file_descriptor.h"

#include <sys/resource.h>
#include <unistd.h>

namespace actorflow {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace actorflow
