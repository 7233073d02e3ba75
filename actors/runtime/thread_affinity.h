// Thread affinity of actors: base classes that choose a thread when the actor is woken, whoever wakes
// it.
#pragma once

#include <atomic>
#include <utility>

#include "actors/runtime/activation_time.h"
#include "actors/runtime/clock.h"
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

// Computes as long as its messages ask for. Runs on the thread that wakes it as long as its activations
// are brief, even if that is the network's: to wake a worker and be answered by it takes longer than
// they do. Where they are not, runs on the unit on which a client has called it last if a client waits
// there: most of what it computes is for that one, which then need not be woken by a worker.
class MeasuredActor : public GuardedActor {
 public:
  using GuardedActor::enqueue;
  using GuardedActor::GuardedActor;

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    GuardedActor::enqueue(std::move(what), chosen_unit());
  }
  resume_result resume(caf::execution_unit* unit, std::size_t max_messages) override {
    if (!TaskScheduler::of(home_system()).in_real_time())
      return GuardedActor::resume(unit, max_messages);
    const auto begin = steady_clock().now();
    const auto result = GuardedActor::resume(unit, max_messages);
    time_.measured(steady_clock().now() - begin);
    return result;
  }

 private:
  caf::execution_unit* chosen_unit() {
    if (auto* here = ThreadUnit::current_for_compute()) {
      caller_.store(here, std::memory_order_release);
      return here;
    }
    if (is_brief()) return ThreadUnit::current();
    auto* caller = caller_.load(std::memory_order_acquire);
    return caller ? &caller->when_idle() : nullptr;
  }

  bool is_brief() const {
    return time_.within(ActivationTime::limit) ||
           time_.within(TaskScheduler::of(home_system()).brief_limit());
  }

  ActivationTime time_;
  std::atomic<ThreadUnit*> caller_{nullptr};  // units live as long as the scheduler
};

// Pinned to one unit for a while: two clients would otherwise pull each other's steps onto one thread,
// because each has work for actors that both use. While it is not pinned, where a ComputingActor runs,
// or where a LightActor does if it is said to be brief.
class PinnedActor : public GuardedActor {
 public:
  using GuardedActor::enqueue;
  using GuardedActor::GuardedActor;

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    auto* pinned = unit_.load(std::memory_order_acquire);
    if (!pinned)
      pinned = brief_.load(std::memory_order_relaxed) ? ThreadUnit::current()
                                                      : ThreadUnit::current_for_compute();
    GuardedActor::enqueue(std::move(what), pinned);
  }
  // Whether its next activations take no longer than TaskScheduler::brief_limit(), as far as is known.
  void set_brief(bool brief) { brief_.store(brief, std::memory_order_relaxed); }
  // For the actor itself, while it runs: to the unit of its thread.
  void pin() { unit_.store(ThreadUnit::current_for_compute(), std::memory_order_release); }
  void unpin() { unit_.store(nullptr, std::memory_order_release); }

 private:
  std::atomic<ThreadUnit*> unit_{nullptr};
  std::atomic<bool> brief_{false};
};

// Runs on any thread that is free to compute. So does its first activation, which CAF would leave to the
// thread that spawns it: what is long would wait there behind what is longer.
class PieceActor : public GuardedActor {
 public:
  using GuardedActor::enqueue;
  using GuardedActor::GuardedActor;

  void launch(caf::execution_unit*, bool lazy, bool hide) override {
    GuardedActor::launch(&TaskScheduler::of(home_system()).piece_unit(), lazy, hide);
  }
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    GuardedActor::enqueue(std::move(what), &TaskScheduler::of(home_system()).piece_unit());
  }
};

}  // namespace actorflow
