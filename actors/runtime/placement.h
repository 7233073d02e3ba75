// Where actors run: base classes that choose a thread when the actor is woken, whoever wakes it.
#pragma once

#include <atomic>
#include <utility>

#include "actors/runtime/guarded_actor.h"
#include "actors/runtime/scheduler.h"
#include "actors/runtime/thread_unit.h"

namespace actorflow {

// On the thread that wakes it, where that is a ThreadUnit's; on a worker of the scheduler otherwise.
template <Duty duty>
class WokenHere : public GuardedActor {
 public:
  using GuardedActor::enqueue;
  using GuardedActor::GuardedActor;

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    auto* unit = duty == Duty::light ? ThreadUnit::current() : ThreadUnit::current_for_compute();
    GuardedActor::enqueue(std::move(what), unit);
  }
};
// It handles messages and computes nothing.
using LightActor = WokenHere<Duty::light>;
// Its work may take long.
using ComputingActor = WokenHere<Duty::compute>;

// On one unit for a while: two clients would otherwise pull each other's steps onto one thread, because
// each has work for actors that both use.
class HomedActor : public GuardedActor {
 public:
  using GuardedActor::enqueue;
  using GuardedActor::GuardedActor;

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    auto* home = home_.load(std::memory_order_acquire);
    GuardedActor::enqueue(std::move(what), home ? home : ThreadUnit::current_for_compute());
  }
  // For the actor itself, while it runs.
  void stay_here() { home_.store(ThreadUnit::current_for_compute(), std::memory_order_release); }
  void leave_home() { home_.store(nullptr, std::memory_order_release); }

 private:
  std::atomic<ThreadUnit*> home_{nullptr};
};

// On whichever thread is free to compute.
class PieceActor : public GuardedActor {
 public:
  using GuardedActor::enqueue;
  using GuardedActor::GuardedActor;

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    GuardedActor::enqueue(std::move(what), &TaskScheduler::of(home_system()).piece_unit());
  }
};

}  // namespace actorflow
