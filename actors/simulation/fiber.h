// A program that can be stopped in the middle and gone on with, on the thread of whoever resumes it.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace actorflow {

// Simulated clients block: each is a fiber, so that one thread can go on with the rest of the world
// meanwhile. Not thread-safe.
class Fiber {
 public:
  // What a program sees in its suspend() when it shall end without going on: everything on its stack is
  // destroyed. Not an std::exception, so that no program takes it for an error.
  struct Unwind {};

  explicit Fiber(std::function<void()> program);
  // Unwinds a program that has not ended.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The fiber that runs; null outside of all.
  static Fiber* current();

  // Runs the program until it suspends or ends. What it throws comes out here.
  void resume();
  bool ended() const { return ended_; }

  // For the program: back to resume(). Throws Unwind, once, if it shall end.
  void suspend();
  // The program is being unwound: it must not suspend again.
  bool unwinding() const { return unwinding_; }

 private:
  static void enter(unsigned low, unsigned high);
  void run();
  void switch_in();

  struct Unmap {
    std::size_t size_bytes;
    void operator()(std::byte* stack) const;
  };

  std::function<void()> program_;
  std::unique_ptr<std::byte, Unmap> stack_;
  ucontext_t own_{}, outside_{};
  Fiber* outer_ = nullptr;
  std::exception_ptr error_;
  bool ended_ = false;
  bool unwinding_ = false;
  // Of the address sanitizer, which must know which stack is in use.
  void* fake_stack_ = nullptr;
  const void* outside_stack_ = nullptr;
  std::size_t outside_stack_bytes_ = 0;
  // The same for the thread sanitizer.
  void* const watched_;
  void* outside_watched_ = nullptr;
};

}  // namespace actorflow
