// For threads of the library's own: signals are the program's, whose threads take them.
#pragma once

#include <signal.h>

namespace actorflow {

// Blocks all signals on the calling thread.
inline void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace actorflow
