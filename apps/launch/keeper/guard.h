// The process that starts a keeper and outlives it.
#pragma once

#include <functional>

namespace actorflow {

// Runs `keep` in a child process, to which it passes on TERM, INT and HUP. When that has ended, however
// it has, kills whatever it has left behind, and clears away its credentials: a keeper that is killed by
// SIGKILL, as where memory is short, cannot do so itself. Until then standard output stays open, so that
// who reads it knows that all has ended. Returns the status of the child, 128 + the signal after a line
// on standard error if it was killed; in the child that of `keep`. If this process is killed, the child
// gets TERM. REQUIRES: this process has one thread.
int guarded(const std::function<int()>& keep);

}  // namespace actorflow
