// Fibers: programs that can be suspended and resumed, on the thread of the resumer.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace actorflow {

// Simulated clients block; each is a fiber, so that one thread can run the rest of the world meanwhile.
// Not thread-safe.
class Fiber {
 public:
  // Thrown by suspend() to end a program, so that everything on its stack is destroyed. Not an
  // std::exception, so that no program takes it for an error.
  struct Unwind {};

  explicit Fiber(std::function<void()> program);
  // Unwinds a program that has not ended.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The running fiber; null outside of all fibers.
  static Fiber* current();

  // Runs the program until it suspends or ends. Throws what the program throws.
  void resume();
  bool ended() const { return ended_; }

  // For the program: returns to resume(). Throws Unwind, once, if the program shall end.
  void suspend();
  // True while the program is being unwound: it must not suspend again.
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
  // For the address sanitizer, which must know the stack in use.
  void* fake_stack_ = nullptr;
  const void* outside_stack_ = nullptr;
  std::size_t outside_stack_bytes_ = 0;
  // For the thread sanitizer.
  void* const watched_;
  void* outside_watched_ = nullptr;
};

}  // namespace actorflow
