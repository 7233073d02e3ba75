// The threads on which actors run: the scheduler's workers, and for a while other threads, such as that
// of a client that waits for its step.
#pragma once

#include <atomic>
#include <caf/detail/thread_safe_actor_clock.hpp>
#include <caf/execution_unit.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "actors/runtime/activation_time.h"
#include "actors/runtime/ready_queue.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {

class ThreadUnit;
enum class Duty;

// Runs an actor once, for at most `max_messages`; if it has more, queues it again at the unit.
void run_on(caf::execution_unit& unit, caf::resumable* actor, std::size_t max_messages);

// The scheduler as actors see it; a simulation replaces it.
class TaskScheduler : public caf::scheduler::abstract_coordinator {
 public:
  using caf::scheduler::abstract_coordinator::abstract_coordinator;
  // The scheduler of a system. REQUIRES: the system was configured with one (not checked: called for
  // every costly node).
  static TaskScheduler& of(caf::actor_system& system);

  // The unit for waking actors that are pieces of computing.
  virtual caf::execution_unit& piece_unit() = 0;
  // The number of workers that may compute beside computing client threads.
  virtual int helpers() const = 0;
  // How long an actor may run on a thread that has other work, as the network's. Changes all the time.
  virtual std::chrono::nanoseconds brief_limit() const { return ActivationTime::limit; }
  // False where time stands still while an actor runs: in a simulation.
  virtual bool in_real_time() const = 0;
  // Ends the task of the calling actor at once, as if killed, and logs the reason. Ends the process,
  // with the status `lost_task` (exit_status.h), so that whoever manages it starts it again; or the
  // simulated one.
  virtual void end_task(const std::string& reason) = 0;
  // The same because of the exception that is handled now; `what()` says what could not be done. Says
  // less where there is no memory for that. REQUIRES: called in a catch block.
  template <class What>
  void end_task_by_exception(const What& what) {
    std::string reason = "it lacks memory";  // short enough to take none
    try {
      reason = what() + ": " + current_exception_status().to_string();
    } catch (const std::bad_alloc&) {
    }
    end_task(reason);
  }
};

// Replaces CAF's own scheduler. It has two queues: actors, for its workers, and pieces of computing (a
// node's kernel, or a part of one), which waiting clients take, too. As many threads compute at once as
// there are workers: a computing client thread replaces the last of them. A worker looks for work for a
// moment before it sleeps, since waking it costs more than a small kernel. An actor that could not be
// queued would never run again: without memory for that, where it takes some (ready_queue.h), the
// process ends. A separate thread takes light actors that wait behind long kernels out of the queues and
// runs them, so that heartbeats do not wait for kernels. Thread-safe.
class Scheduler final : public TaskScheduler {
 public:
  explicit Scheduler(caf::actor_system& system);
  ~Scheduler() override;
  // Makes the threads, which wait for start(): here a system has no actors yet, and can be given up.
  // Throws resource_exhausted where the machine starts no such number of threads.
  void init(caf::actor_system_config& config) override;

  void enqueue(caf::resumable* actor) noexcept override;
  void enqueue_piece(caf::resumable* piece) noexcept;
  caf::execution_unit& piece_unit() override { return piece_unit_; }
  // A queued piece of computing, null if there is none.
  caf::resumable* take_piece();

  int helpers() const override;
  bool in_real_time() const override { return true; }
  std::chrono::nanoseconds brief_limit() const override;
  [[noreturn]] void end_task(const std::string& reason) override;

  // Call when a client's thread begins or stops computing.
  void client_computes(bool computes);
  // Call when a thread that looked for work has seen that others want its core.
  void saw_wanted_core();
  // A unit for a thread of others. Units are kept, because an actor may remember the one on which it
  // ran.
  std::unique_ptr<ThreadUnit> take_unit(Duty duty);
  void put_back(std::unique_ptr<ThreadUnit> unit);

  caf::actor_clock& clock() noexcept override { return clock_; }
  bool detaches_utility_actors() const override { return true; }

 protected:
  void start() override;
  void stop() override;

 private:
  enum class State { busy, searching, asleep };
  struct Worker {
    State state = State::busy;
    std::condition_variable woken;
    std::thread thread;
  };
  // Forwards actors to one of the queues.
  struct Unit final : caf::execution_unit {
    Unit(Scheduler& s, void (Scheduler::*to)(caf::resumable*) noexcept);
    void exec_later(caf::resumable* actor) noexcept override { (scheduler.*enqueue)(actor); }
    Scheduler& scheduler;
    void (Scheduler::*enqueue)(caf::resumable*) noexcept;
  };

  // A thread that begins with start(), unless the scheduler is given up before.
  std::thread thread(std::function<void()> body);
  void end_threads();
  void work(int index);
  // The next actor for a worker; null when the scheduler stops.
  caf::resumable* next(int index);
  // An actor that the worker may take, or null. REQUIRES: mutex_ is held.
  caf::resumable* take(int index);
  bool may_have(int index) const;
  // Looks for an actor for a moment, while the core is not wanted by others.
  void search(int index);
  // How many workers, from the first on, take pieces.
  int takers_of_pieces() const;
  void wake_one(int workers);
  void rescue_light_actors();
  // Light actors that have been queued since the previous check. REQUIRES: mutex_ is held.
  std::vector<caf::resumable*> stranded();

  Unit actor_unit_, piece_unit_;
  std::atomic<int> clients_{0};
  std::atomic<std::chrono::steady_clock::time_point> cores_wanted_until_{};
  std::atomic<int> num_actors_{0}, num_pieces_{0};  // in the queues, for a look without the mutex
  mutable std::mutex mutex_;
  ReadyQueue actors_, pieces_;  // guarded by mutex_, as are the states of workers
  bool started_ = false, stopping_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<ThreadUnit>> idle_units_;
  std::vector<ThreadUnit*> units_in_use_;
  std::condition_variable begun_, stopped_;
  caf::detail::thread_safe_actor_clock clock_;
  std::thread timer_, rescuer_;
};

}  // namespace actorflow
