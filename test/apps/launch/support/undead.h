// A process that is killed and does not end.
#pragma once

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "apps/launch/keeper/spawn.h"

namespace actorflow::test {

// Holds a process of ours, so that it does not end when it is killed, as one that waits for a disk does
// not: a process that is traced ends for its parent when its tracer has waited for it.
class Undead {
 public:
  explicit Undead(int process) : tracer_(fork()) {
    if (tracer_ == 0) trace(process);
    attached_.writing = FileDescriptor();
    char byte = 0;
    is_held_ = read(attached_.reading.get(), &byte, 1) == 1;
  }
  Undead(const Undead&) = delete;
  Undead& operator=(const Undead&) = delete;
  ~Undead() {
    kill(tracer_, SIGKILL);
    waitpid(tracer_, nullptr, 0);
  }
  bool is_held() const { return is_held_; }

 private:
  [[noreturn]] void trace(int process) const {
    if (ptrace(PTRACE_SEIZE, process, nullptr, nullptr) != 0) _exit(1);
    if (write(attached_.writing.get(), "x", 1) == 1) pause();
    _exit(1);
  }

  Pipe attached_ = make_pipe();
  pid_t tracer_;
  bool is_held_ = false;
};

}  // namespace actorflow::test
