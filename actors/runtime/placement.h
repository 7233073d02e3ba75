// Base classes of actors that choose the thread on which a woken actor runs.
#pragma once

#include <atomic>
#include <utility>

#include "actors/runtime/guarded_actor.h"
#include "actors/runtime/scheduler.h"
#include "actors/runtime/thread_unit.h"

namespace actorflow {

// Runs on the thread that wakes it if that attends a ThreadUnit, else on a worker of the scheduler.
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
// An actor that handles messages and computes nothing.
using LightActor = WokenHere<Duty::light>;
// An actor whose work may take long.
using ComputingActor = WokenHere<Duty::compute>;

// Runs on one unit for a while. Otherwise two clients that use the same actors would pull each other's
// steps onto one thread.
class HomedActor : public GuardedActor {
 public:
  using GuardedActor::enqueue;
  using GuardedActor::GuardedActor;

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    auto* home = home_.load(std::memory_order_acquire);
    GuardedActor::enqueue(std::move(what), home ? home : ThreadUnit::current_for_compute());
  }
  // Stays on the present unit. Call it from the actor while it runs.
  void stay_here() { home_.store(ThreadUnit::current_for_compute(), std::memory_order_release); }
  void leave_home() { home_.store(nullptr, std::memory_order_release); }

 private:
  std::atomic<ThreadUnit*> home_{nullptr};
};

// Runs on any thread that is free to compute.
class PieceActor : public GuardedActor {
 public:
  using GuardedActor::enqueue;
  using GuardedActor::GuardedActor;

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    GuardedActor::enqueue(std::move(what), &TaskScheduler::of(home_system()).piece_unit());
  }
};

}  // namespace actorflow
