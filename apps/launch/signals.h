// Signals that a process reads instead of being interrupted by them.
#pragma once

#include <csignal>

#include "schema/file_descriptor.h"

namespace actorflow {

// Blocks the signals in this thread and those that it starts, and returns where they can be read
// (signalfd). SIGPIPE is ignored, so that writing to what has been closed is an error like any other,
// and SIGCHLD is not, which the ends of child processes need to be seen.
FileDescriptor watch_signals(const sigset_t& signals);

}  // namespace actorflow
