// A simulated cluster: the production actors of any number of tasks, on simulated machines and networks,
// in one thread and in virtual time. The same seed gives the same run, bit for bit.
//
//   SimCluster sim({{"ps", 1}, {"worker", 4}}, {.seed = 7});
//   auto run = sim.start([](SimTask& task) { return train(task.server(), task.storage()); });
//   sim.at(30s).kill("/job:ps/task:0");
//   sim.at(31s).restart("/job:ps/task:0");
//   run.finish("/job:worker/task:0");  // what train() returned there
//
// Conditions, and faults that depend on what has happened (of these programs, which join(), none ends):
//
//   auto run = sim.start(serve);
//   sim.always("at most one leader", [&] { return leaders.size() <= 1; });
//   sim.eventually("there is a leader", [&] { return leaders.size() == 1; }, 10s);
//   sim.now().partition(leader(), "/job:node/task:1", 20s);
//   sim.run_for(1min);
//   run.stop();
#pragma once

#include <any>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/runtime/storage.h"
#include "actors/simulation/fault_plan.h"
#include "actors/simulation/link_model.h"
#include "actors/simulation/world/schedule.h"
#include "actors/task/server.h"

namespace actorflow {

class SimNetwork;
class SimStorage;
class World;

struct SimOptions {
  std::uint64_t seed = 1;
  LinkModel links{};
  // The longest time of a kernel; each time is drawn from the seed.
  std::chrono::nanoseconds longest_kernel = std::chrono::microseconds(40);
  // The simulated time after which a run counts as hanging and fails.
  std::chrono::nanoseconds time_limit = std::chrono::hours(1);
  // The time after which a program that ended with an error is restarted, as by a supervisor; 0 = never.
  std::chrono::nanoseconds restart_failed{0};
  // Records what write_trace() needs.
  bool record = false;
  // Makes the schedule; none: a random one, by the seed.
  std::function<std::unique_ptr<Schedule>()> schedule{};
  // The program's own ops and optimizers.
  Extensions extensions{};
  // If set, only these of the added faults happen.
  std::optional<FaultPlan> only{};
};

// A task in its present life, as its program sees it.
class SimTask {
 public:
  virtual ~SimTask() = default;
  virtual Server& server() = 0;
  // The disk that all tasks share.
  virtual Storage& storage() = 0;
  // The number of this life: 1 for the first, one more after each restart.
  virtual int life() const = 0;
  // Lets virtual time pass.
  virtual void sleep(std::chrono::nanoseconds duration) = 0;
};

// Statistics of a run.
struct SimStatistics {
  std::chrono::nanoseconds simulated{0};
  std::uint64_t activations = 0;  // of actors and clients: mostly one message each
  std::uint64_t messages = 0;     // between tasks
  std::map<FaultKind, std::uint64_t> faults;
  std::uint64_t too_late = 0;     // faults whose time had not come when the run ended
  std::vector<std::string> ends;  // the reasons of tasks that ended themselves
};

// A simulated cluster. Not thread-safe. REQUIRES: only one exists in a thread at a time.
class SimCluster {
 public:
  struct Job {
    std::string name;
    int tasks = 1;
  };
  template <class R>
  class Run;
  class Moment;

  // How often always() checks: after each event, or so often.
  static constexpr std::chrono::nanoseconds each_event{0};
  static constexpr std::chrono::milliseconds now_and_then{100};

  // A cluster with the options of the running seed (of_this_seed() in seeds.h). Throws invalid_argument
  // for no job, one of less than one task, one that is there twice, and options that make no sense.
  explicit SimCluster(const std::vector<Job>& jobs);
  SimCluster(const std::vector<Job>& jobs, SimOptions options);
  // A cluster that was started must have been run to its end, by finish() or stop(), unless an exception
  // is on its way: the seed fails (seeds.h), or standard error has a warning.
  ~SimCluster();
  SimCluster(const SimCluster&) = delete;
  SimCluster& operator=(const SimCluster&) = delete;

  const ClusterSpec& cluster() const;

  // Sets the program of every task. It blocks like any client, in virtual time; when it returns, the
  // process of its task ends. Nothing runs yet. Throws failed_precondition the second time.
  template <class Program>
  [[nodiscard]] auto start(Program program) {
    using R = std::invoke_result_t<Program&, SimTask&>;
    start_programs([program = std::move(program)](SimTask& task) mutable -> std::any {
      if constexpr (std::is_void_v<R>) {
        program(task);
        return true;
      } else {
        return std::any(program(task));
      }
    });
    return Run<R>(*this);
  }

  // Faults, and calls of the test's own, at a time since the beginning:
  // sim.at(30s).kill("/job:ps/task:0").
  Moment at(std::chrono::nanoseconds time);
  Moment now();
  // Throws invalid_argument, and adds nothing, for a fault that cannot happen (check_faults()) or whose
  // time has passed. Of faults of one kind and the same tasks that overlap, the effect lasts until the
  // last has ended.
  void apply(const FaultPlan& plan);
  // Adds faults that are drawn from the seed, of tasks of this cluster.
  void apply(const RandomFaults& random);
  // All added faults.
  const FaultPlan& faults() const;

  // Adds an invariant: a function that returns false, or throws, if it is violated. It is called outside
  // of all tasks, `every` so often in simulated time, and after the run.
  template <class Check>
  void always(std::string name, Check check, std::chrono::nanoseconds every = now_and_then) {
    add_check(
        std::move(name),
        [check = std::move(check)]() mutable {
          if constexpr (std::is_void_v<std::invoke_result_t<Check&>>) {
            check();
            return true;
          } else {
            return static_cast<bool>(check());
          }
        },
        every);
  }
  // Run the cluster, from the test's body, until the condition is true, which is looked at after each
  // event, or for so long. eventually() returns how long that took; if it takes longer than `within`, it
  // throws deadline_exceeded with the name, what every task is doing, and the last lines of the log.
  // Both throw what finish() throws for a violated invariant; a program that has failed is left to
  // finish() and stop(). They throw failed_precondition inside of a task or a call.
  std::chrono::nanoseconds eventually(const std::string& name, const std::function<bool()>& condition,
                                      std::chrono::nanoseconds within);
  void run_for(std::chrono::nanoseconds duration);
  // The simulated time since the beginning.
  std::chrono::nanoseconds elapsed() const;

  // The disk that all tasks share, from outside of them.
  Storage& disk();
  SimStorage& storage();
  SimNetwork& network();
  World& world();
  SimStatistics statistics() const;
  // The faults that have come and the last that tasks have said, with their times, as errors have it; ""
  // if that is nothing.
  std::string last_lines() const;
  // A hash that is equal for equal runs.
  std::uint64_t trace_hash() const;
  // Writes a trace for Perfetto and chrome://tracing. REQUIRES: SimOptions::record.
  void write_trace(Storage& to, const std::string& path) const;

 private:
  struct Impl;
  void start_programs(std::function<std::any(SimTask&)> program);
  void add_check(std::string name, std::function<bool()> holds, std::chrono::nanoseconds every);
  void finish();
  void stop();
  std::any& result_of(std::string_view task);

  std::unique_ptr<Impl> impl_;
};

template <class R>
class SimCluster::Run {
 public:
  explicit Run(SimCluster& cluster) : cluster_(cluster) {}

  // Runs until every program has ended. Throws the error of a task that failed and was not restarted;
  // internal for an invariant that does not hold; deadline_exceeded, with what every task is doing, if
  // the run hangs; each with the last lines of the log.
  void finish() { cluster_.finish(); }
  // Runs to the end and returns the result of the program on that task.
  auto finish(std::string_view task) {
    cluster_.finish();
    if constexpr (!std::is_void_v<R>) return std::any_cast<R>(cluster_.result_of(task));
  }
  // Ends the run now, whatever still runs. Throws as finish() for a task that has failed and an
  // invariant that does not hold.
  void stop() { cluster_.stop(); }

 private:
  SimCluster& cluster_;
};

// Adds faults, and calls, at one moment.
class SimCluster::Moment {
 public:
  using Duration = std::chrono::nanoseconds;

  Moment(SimCluster& cluster, Duration time) : cluster_(cluster), time_(time) {}

  Moment& kill(std::string_view task) { return fault(FaultKind::kill, task, {}); }
  Moment& restart(std::string_view task) { return fault(FaultKind::restart, task, {}); }
  Moment& pause(std::string_view task, Duration duration) {
    return fault(FaultKind::pause, task, duration);
  }
  Moment& partition(std::string_view a, std::string_view b, Duration duration) {
    return fault(FaultKind::partition, a, b, duration);
  }
  Moment& partition_oneway(std::string_view from, std::string_view to, Duration duration) {
    return fault(FaultKind::partition_oneway, from, to, duration);
  }
  // Cuts the task off from every other one.
  Moment& isolate(std::string_view task, Duration duration);
  Moment& delay(std::string_view a, std::string_view b, Duration by, Duration duration) {
    return add({time_, FaultKind::delay, TaskName::parse(a), TaskName::parse(b), duration, by});
  }
  // The wall clock of the task is ahead, or behind, by so much.
  Moment& clock(std::string_view task, Duration by, Duration duration) {
    return add({time_, FaultKind::clock, TaskName::parse(task), {}, duration, by});
  }
  // Any kind: everywhere, of one task, of two.
  Moment& fault(FaultKind kind, Duration duration) { return add({time_, kind, {}, {}, duration}); }
  Moment& fault(FaultKind kind, std::string_view task, Duration duration) {
    return add({time_, kind, TaskName::parse(task), {}, duration});
  }
  Moment& fault(FaultKind kind, std::string_view a, std::string_view b, Duration duration) {
    return add({time_, kind, TaskName::parse(a), TaskName::parse(b), duration});
  }
  // Calls `action` outside of all tasks. It may add faults, such as the loss of whoever leads by then.
  // What it throws leaves finish(), eventually() or run_for().
  Moment& call(std::function<void()> action);

 private:
  Moment& add(Fault fault) {
    cluster_.apply({std::move(fault)});
    return *this;
  }

  SimCluster& cluster_;
  Duration time_;
};

}  // namespace actorflow
