#include "actors/simulation/world/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cxxabi.h>
#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define ACTORFLOW_FIBER_START(save, stack, size) __sanitizer_start_switch_fiber(save, stack, size)
#define ACTORFLOW_FIBER_FINISH(save, stack, size) __sanitizer_finish_switch_fiber(save, stack, size)
#else
#define ACTORFLOW_FIBER_START(save, stack, size) (void)0
#define ACTORFLOW_FIBER_FINISH(save, stack, size) (void)0
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace actorflow {
namespace {

// Address space only: pages are taken when they are touched. The lowest page is a guard.
constexpr std::size_t stack_bytes = std::size_t{1} << 20;

thread_local Fiber* running = nullptr;

// What the thread sanitizer knows of a stack.
#if defined(__SANITIZE_THREAD__)
void* watch_new_stack() { return __tsan_create_fiber(0); }
void* watched_stack() { return __tsan_get_current_fiber(); }
void watch(void* stack) { __tsan_switch_to_fiber(stack, 0); }
void unwatch(void* stack) { __tsan_destroy_fiber(stack); }
#else
void* watch_new_stack() { return nullptr; }
void* watched_stack() { return nullptr; }
void watch(void*) {}
void unwatch(void*) {}
#endif

std::byte* map_stack() {
  void* stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) throw std::bad_alloc();
  mprotect(stack, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE);
  return static_cast<std::byte*>(stack);
}

// The exceptions that a stack is handling belong to that stack, but the C++ runtime keeps them per
// thread: they are exchanged with the stacks.
struct Handling {
  void* caught = nullptr;
  unsigned uncaught = 0;

  static Handling& of_thread() {
    return *reinterpret_cast<Handling*>(__cxxabiv1::__cxa_get_globals());
  }
};

}  // namespace

void Fiber::Unmap::operator()(std::byte* stack) const { munmap(stack, size_bytes); }

Fiber::Fiber(std::function<void()> program)
    : program_(std::move(program)),
      stack_(map_stack(), Unmap{stack_bytes}),
      watched_(watch_new_stack()) {
  getcontext(&own_);
  own_.uc_stack.ss_sp = stack_.get();
  own_.uc_stack.ss_size = stack_bytes;
  own_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&own_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self),
              static_cast<unsigned>(self >> 32));
}

Fiber::~Fiber() {
  if (!ended_) {
    unwinding_ = true;
    switch_in();
  }
  unwatch(watched_);
}

Fiber* Fiber::current() { return running; }

void Fiber::enter(unsigned low, unsigned high) {
  const auto self = (static_cast<std::uintptr_t>(high) << 32) | low;
  reinterpret_cast<Fiber*>(self)->run();
}

void Fiber::run() {
  ACTORFLOW_FIBER_FINISH(nullptr, &outside_stack_, &outside_stack_bytes_);
  if (!unwinding_) {
    try {
      program_();
    } catch (const Unwind&) {
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  ended_ = true;
  ACTORFLOW_FIBER_START(nullptr, outside_stack_, outside_stack_bytes_);
  watch(outside_watched_);
  setcontext(&outside_);
}

void Fiber::switch_in() {
  outer_ = std::exchange(running, this);
  [[maybe_unused]] void* mine = nullptr;
  const Handling handling = std::exchange(Handling::of_thread(), {});
  ACTORFLOW_FIBER_START(&mine, stack_.get(), stack_bytes);
  outside_watched_ = watched_stack();
  watch(watched_);
  swapcontext(&outside_, &own_);
  ACTORFLOW_FIBER_FINISH(mine, nullptr, nullptr);
  Handling::of_thread() = handling;
  running = outer_;
}

void Fiber::resume() {
  switch_in();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Fiber::suspend() {
  const Handling handling = Handling::of_thread();
  ACTORFLOW_FIBER_START(&fake_stack_, outside_stack_, outside_stack_bytes_);
  watch(outside_watched_);
  swapcontext(&own_, &outside_);
  ACTORFLOW_FIBER_FINISH(fake_stack_, &outside_stack_, &outside_stack_bytes_);
  Handling::of_thread() = handling;
  if (unwinding_) throw Unwind{};
}

}  // namespace actorflow
