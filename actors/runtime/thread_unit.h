// A thread that is not the scheduler's and runs actors all the same: a client's while it waits for its
// step, and the network's. What such a thread wakes it runs itself, without waking another.
#pragma once

#include <atomic>
#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace actorflow {

class Scheduler;

// Whether a thread may compute kernels, or must soon be back at its own work.
enum class Duty { light, compute };

// Takes the light actors out of the queue; returns how many there were.
int take_light_actors(std::deque<caf::resumable*>& queue, std::vector<caf::resumable*>& to);

// One thread at a time attends it (Attendance). Actors that come while nobody does go to the scheduler,
// so that none is ever lost.
class ThreadUnit final : public caf::execution_unit {
 public:
  ThreadUnit(Scheduler& scheduler, Duty duty);

  // The unit that the calling thread attends; null on others, the scheduler's workers among them.
  static ThreadUnit* current();
  // The same, if it may compute.
  static ThreadUnit* current_for_compute();

  Duty duty() const { return duty_; }

  // Any thread.
  void exec_later(caf::resumable* actor) noexcept override;
  // Any thread: ends run_until_stopped(), now or when it is called next.
  void stop();
  // Any thread: its light actors, if nothing has been taken from the queue since the last call.
  void give_up_stranded(std::vector<caf::resumable*>& to);

  // The rest: the attending thread. Runs what is ready until nothing is.
  void run_ready();
  // Runs what comes until stop(), and returns true, or until `end`, and returns false. Helps the
  // scheduler's workers to compute meanwhile, and sleeps when there is nothing to do.
  bool run_until_stopped(
      std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max());

 private:
  friend class Attendance;
  void open();
  void close();
  caf::resumable* take();
  void run(caf::resumable* actor);
  // Looks for something to do for a moment: a piece of computing, or null.
  caf::resumable* search();
  // Until there is something to run, or `end`.
  void sleep(std::chrono::steady_clock::time_point end);
  void count_as_computing(bool computes);

  Scheduler& scheduler_;
  const Duty duty_;
  std::mutex mutex_;
  std::condition_variable woken_;
  std::deque<caf::resumable*> ready_;  // these six guarded by mutex_
  std::uint64_t taken_ = 0, taken_before_ = 0;
  bool open_ = false;
  bool stopped_ = false;
  bool asleep_ = false;
  std::atomic<bool> news_{false};  // something became ready, or stop() was called
};

// For a thread that is not the system's, while it makes the system, spawns its actors or speaks with them.
// CAF keeps the system's logger with such a thread, and the end of the system waits until nobody keeps it:
// without this it could end on that thread only.
class SystemVisit {
 public:
  SystemVisit() = default;
  ~SystemVisit();
  SystemVisit(const SystemVisit&) = delete;
  SystemVisit& operator=(const SystemVisit&) = delete;
};

// While it lives, its thread attends a unit.
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
  ThreadUnit* outer_;  // that the thread attended before
};

}  // namespace actorflow
