// Units of threads that run actors but are not the scheduler's: a client's thread while it waits for its
// step, and the network's. Such a thread runs the actors that it wakes itself, without waking another
// thread.
#pragma once

#include <atomic>
#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/runtime/ready_queue.h"

namespace actorflow {

class Scheduler;

// Whether a thread may compute kernels, or must soon return to its own work.
enum class Duty { light, compute };

// A unit, attended by one thread at a time (Attendance). Actors that are woken while no thread attends
// it go to the scheduler, so that none is ever lost.
class ThreadUnit final : public caf::execution_unit {
 public:
  ThreadUnit(Scheduler& scheduler, Duty duty);

  // The unit that the calling thread attends; null on others, the scheduler's workers among them.
  static ThreadUnit* current();
  // The unit that the calling thread attends, if it may compute; else null.
  static ThreadUnit* current_for_compute();

  Duty duty() const { return duty_; }

  // Any thread.
  void exec_later(caf::resumable* actor) noexcept override;
  // Any thread: for an actor that runs here if the thread has nothing to do, else on a worker.
  caf::execution_unit& when_idle() { return when_idle_; }
  // Any thread: ends the present or the next run_until_stopped().
  void stop();
  // Any thread: moves its light actors to `to` if nothing has been taken from its queue since the last
  // call.
  void give_up_stranded(std::vector<caf::resumable*>& to);

  // The following functions: the attending thread only. Runs ready actors until there are none.
  void run_ready();
  // Runs actors until stop(), and returns true, or until `end`, and returns false. Meanwhile it helps
  // the scheduler's workers to compute, and sleeps when there is nothing to do.
  bool run_until_stopped(
      std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max());

 private:
  friend class Attendance;
  struct WhenIdle final : caf::execution_unit {
    explicit WhenIdle(ThreadUnit& of);
    void exec_later(caf::resumable* actor) noexcept override;
    ThreadUnit& unit;
  };
  bool push(caf::resumable* actor) noexcept;
  void open();
  void close();
  // No actor is added from now on. Returns one that is left, null if there is none.
  caf::resumable* close_or_take();
  caf::resumable* take();
  void run(caf::resumable* actor);
  // Looks for something to do for a moment: a piece of computing, or null.
  caf::resumable* search();
  // Sleeps until there is something to run, or until `end`.
  void sleep(std::chrono::steady_clock::time_point end);
  void count_as_computing(bool computes);

  Scheduler& scheduler_;
  const Duty duty_;
  WhenIdle when_idle_{*this};
  std::atomic<bool> idle_{false};
  std::mutex mutex_;
  std::condition_variable woken_;
  ReadyQueue ready_;  // these six guarded by mutex_
  std::uint64_t taken_ = 0, taken_before_ = 0;
  bool open_ = false;
  bool stopped_ = false;
  bool asleep_ = false;
  std::atomic<bool> news_{false};  // something became ready, or stop() was called
};

// For a thread outside the actor system while it makes the system, spawns actors or sends them messages.
// CAF stores the system's logger in such a thread, and the end of the system waits until no thread has
// it: without this object the system could only end on that thread.
class SystemVisit {
 public:
  SystemVisit() = default;
  ~SystemVisit();
  SystemVisit(const SystemVisit&) = delete;
  SystemVisit& operator=(const SystemVisit&) = delete;
};

// Makes its thread attend a unit for its life.
class Attendance {
 public:
  Attendance(Scheduler& scheduler, Duty duty);
  ~Attendance();
  Attendance(const Attendance&) = delete;
  Attendance& operator=(const Attendance&) = delete;

  ThreadUnit& unit() const { return *unit_; }

 private:
  const SystemVisit visit_;
  Scheduler& scheduler_;
  std::unique_ptr<ThreadUnit> unit_;
  ThreadUnit* outer_;  // the unit that the thread attended before
};

}  // namespace actorflow
