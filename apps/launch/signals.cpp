#include "apps/launch/signals.h"

#include <sys/signalfd.h>

namespace actorflow {

FileDescriptor watch_signals(const sigset_t& signals) {
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  return FileDescriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace actorflow
