// What a process says when it crashes.
#pragma once

namespace actorflow {

// From now on SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT print to standard error which node and op the
// thread was computing and on which task, where it was, and where to report it; then they do what they
// do by default (a core dump). A handler that the program has installed stays, and one that it installs
// later takes the place of ours. Every program and every runtime (actors/runtime/runtime.h) calls this.
// Thread-safe.
void report_crashes();

// A stack for the report of a thread that has none left of its own: as long as this lives, which must be
// on that thread. One that the thread has already stays.
class SignalStack {
 public:
  SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack();

 private:
  void* const memory_;  // null: another one is in use, or there is no memory
};

}  // namespace actorflow
