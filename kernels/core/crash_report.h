// Reports of crashes.
#pragma once

namespace actorflow {

// Installs handlers of SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT. They print to standard error the
// node, op and task that the thread was computing (computing.h), where in the code it was, and where to
// report the crash; then the default action follows (a core dump). A handler that the program has
// installed before stays, and one that it installs later replaces ours. Every program and every runtime
// (actors/runtime/runtime.h) calls this. Thread-safe.
void report_crashes();

// A signal stack for the thread that creates and destroys this object, so that even a stack overflow is
// reported. A signal stack that the thread has already stays.
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
