// Threads that are not CAF's and run actors all the same: a client's while it waits for its step, and
// the network's. What such a thread wakes it runs itself, without waking another.
#pragma once

#include <atomic>
#include <caf/event_based_actor.hpp>
#include <caf/execution_unit.hpp>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace actorflow {

// Whether a thread may compute kernels, or must soon be back at its own work.
enum class Duty { light, compute };

// One at a time attends it (ThreadUnits::Attendance). Actors that come while nobody does go to the
// scheduler, so that none is ever lost.
class ThreadUnit final : public caf::execution_unit {
 public:
  ThreadUnit(caf::actor_system& system, Duty duty) : caf::execution_unit(&system), duty_(duty) {}

  // The unit that the calling thread attends; null on others, CAF's own among them.
  static ThreadUnit* current();
  // The same, if it may compute.
  static ThreadUnit* current_for_compute();

  // Any thread.
  void exec_later(caf::resumable* actor) override;
  // Any thread: ends run_until_stopped(), now or when it is called next.
  void stop();

  // The rest: the attending thread. Runs what is ready until nothing is.
  void run_ready();
  // Runs what comes, and sleeps in between, until stop().
  void run_until_stopped();

 private:
  friend class ThreadUnits;
  void open();
  void close();
  void run(caf::resumable* actor);
  // Returns when there is something to do, with `lock` held.
  void wait(std::unique_lock<std::mutex>& lock);

  const Duty duty_;
  std::mutex mutex_;
  std::condition_variable woken_;
  std::deque<caf::resumable*> ready_;  // these four guarded by mutex_
  bool open_ = false;
  bool stopped_ = false;
  bool asleep_ = false;
  std::atomic<bool> news_{false};  // since wait() began
};

// The units of a runtime. They live as long as it does: an actor may remember the one it ran on.
// Thread-safe.
class ThreadUnits {
 public:
  explicit ThreadUnits(caf::actor_system& system) : system_(system) {}

  // While it lives, its thread attends a unit.
  class Attendance {
   public:
    Attendance(ThreadUnits& units, Duty duty);
    ~Attendance();
    Attendance(const Attendance&) = delete;
    Attendance& operator=(const Attendance&) = delete;

    ThreadUnit& unit() const { return *unit_; }

   private:
    ThreadUnits& units_;
    std::unique_ptr<ThreadUnit> unit_;
    ThreadUnit* outer_;  // that the thread attended before
  };

 private:
  std::unique_ptr<ThreadUnit> take(Duty duty);
  void put_back(std::unique_ptr<ThreadUnit> unit);

  caf::actor_system& system_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadUnit>> idle_;
};

// An actor that runs on the thread that wakes it where that is a ThreadUnit's, and in CAF's pool
// otherwise.
template <Duty duty>
class WokenHere : public caf::event_based_actor {
 public:
  using caf::event_based_actor::enqueue;
  using caf::event_based_actor::event_based_actor;

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    auto* unit = duty == Duty::light ? ThreadUnit::current() : ThreadUnit::current_for_compute();
    caf::event_based_actor::enqueue(std::move(what), unit);
  }
};
// It handles messages and computes nothing.
using LightActor = WokenHere<Duty::light>;
// Its work may take long.
using ComputingActor = WokenHere<Duty::compute>;

// An actor that stays on one unit for a while, whoever wakes it: two clients would otherwise pull each
// other's steps onto one thread, because each has work for actors that both use.
class HomedActor : public caf::event_based_actor {
 public:
  using caf::event_based_actor::enqueue;
  using caf::event_based_actor::event_based_actor;

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    auto* home = home_.load(std::memory_order_acquire);
    caf::event_based_actor::enqueue(std::move(what), home ? home : ThreadUnit::current_for_compute());
  }
  // For the actor itself, while it runs.
  void stay_here() { home_.store(ThreadUnit::current_for_compute(), std::memory_order_release); }
  void leave_home() { home_.store(nullptr, std::memory_order_release); }

 private:
  std::atomic<ThreadUnit*> home_{nullptr};
};

}  // namespace actorflow
