// Thread affinity of actors: base classes that choose a thread when the actor is woken, whoever wakes
// it.
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

// Pinned to one unit for a while: two clients would otherwise pull each other's steps onto one thread,
// because each has work for actors that both use. While it is not pinned, where a ComputingActor runs.
class PinnedActor : public GuardedActor {
 public:
  using GuardedActor::enqueue;
  using GuardedActor::GuardedActor;

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    auto* pinned = unit_.load(std::memory_order_acquire);
    GuardedActor::enqueue(std::move(what), pinned ? pinned : ThreadUnit::current_for_compute());
  }
  // For the actor itself, while it runs: to the unit of its thread.
  void pin() { unit_.store(ThreadUnit::current_for_compute(), std::memory_order_release); }
  void unpin() { unit_.store(nullptr, std::memory_order_release); }

 private:
  std::atomic<ThreadUnit*> unit_{nullptr};
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
