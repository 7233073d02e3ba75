#include "schema/file_descriptor.h"

#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace actorflow {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

bool lock_within(const FileDescriptor& file, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds pause{10};
  for (; flock(file.get(), LOCK_EX | LOCK_NB) != 0; patience -= pause) {
    if (errno != EWOULDBLOCK && errno != EINTR) return true;
    if (patience <= pause.zero()) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace actorflow
