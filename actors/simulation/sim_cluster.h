// A simulated cluster: the production actors of any number of tasks, on simulated machines and networks,
// in one thread and in virtual time. The same seed gives the same run, bit for bit.
//
//   SimCluster sim({{"ps", 1}, {"worker", 4}}, {.seed = 7});
//   auto run = sim.start([](SimTask& task) { return train(task.server(), task.storage()); });
//   sim.at(30s).kill("/job:ps/task:0");
//   sim.at(31s).restart("/job:ps/task:0");
//   run.finish("/job:worker/task:0");  // what train() returned there
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
#include <utility>
#include <vector>

#include "actors/runtime/storage.h"
#include "actors/simulation/fault_plan.h"
#include "actors/simulation/link_model.h"
#include "actors/simulation/schedule.h"
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

  // A cluster with the options of the running seed (of_this_seed() in seeds.h).
  explicit SimCluster(const std::vector<Job>& jobs);
  SimCluster(const std::vector<Job>& jobs, SimOptions options);
  ~SimCluster();
  SimCluster(const SimCluster&) = delete;
  SimCluster& operator=(const SimCluster&) = delete;

  const ClusterSpec& cluster() const;

  // Sets the program of every task. It blocks like any client, in virtual time; when it returns, the
  // process of its task ends. Call it once per cluster.
  template <class Program>
  auto start(Program program) {
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

  // Faults at a time since the beginning: sim.at(30s).kill("/job:ps/task:0").
  Moment at(std::chrono::nanoseconds time);
  // Throws invalid_argument for a time or a duration that is negative. Of faults of one kind and the
  // same tasks that overlap, the effect lasts until the last has ended.
  void apply(const FaultPlan& plan);
  // All added faults.
  const FaultPlan& faults() const;
  // Adds an invariant. `check` is called now and then, and after the run; it throws if the invariant is
  // violated.
  void always(std::string name, std::function<void()> check);

  SimStorage& storage();
  SimNetwork& network();
  World& world();
  SimStatistics statistics() const;
  // A hash that is equal for equal runs.
  std::uint64_t trace_hash() const;
  // Writes a trace for Perfetto and chrome://tracing. REQUIRES: SimOptions::record.
  void write_trace(Storage& to, const std::string& path) const;

 private:
  struct Impl;
  void start_programs(std::function<std::any(SimTask&)> program);
  // Runs until every program has ended. Throws the error of a task that failed and was not restarted, or
  // deadline_exceeded, with what every task is doing, if the run hangs; both with the last lines of the
  // log.
  void finish();
  std::any& result_of(std::string_view task);

  std::unique_ptr<Impl> impl_;
};

template <class R>
class SimCluster::Run {
 public:
  explicit Run(SimCluster& cluster) : cluster_(cluster) {}

  void finish() { cluster_.finish(); }
  // Runs to the end and returns the result of the program on that task.
  auto finish(std::string_view task) {
    cluster_.finish();
    if constexpr (!std::is_void_v<R>) return std::any_cast<R>(cluster_.result_of(task));
  }

 private:
  SimCluster& cluster_;
};

// Adds faults at one moment.
class SimCluster::Moment {
 public:
  Moment(SimCluster& cluster, std::chrono::nanoseconds time) : cluster_(cluster), time_(time) {}

  Moment& kill(std::string_view task) { return add({time_, FaultKind::kill, TaskName::parse(task)}); }
  Moment& restart(std::string_view task) {
    return add({time_, FaultKind::restart, TaskName::parse(task)});
  }
  Moment& pause(std::string_view task, std::chrono::nanoseconds duration) {
    return add({time_, FaultKind::pause, TaskName::parse(task), {}, duration});
  }
  Moment& partition(std::string_view a, std::string_view b, std::chrono::nanoseconds duration) {
    return add({time_, FaultKind::partition, TaskName::parse(a), TaskName::parse(b), duration});
  }
  Moment& fault(FaultKind kind, std::chrono::nanoseconds duration) {
    return add({time_, kind, {}, {}, duration});
  }

 private:
  Moment& add(Fault fault) {
    cluster_.apply({std::move(fault)});
    return *this;
  }

  SimCluster& cluster_;
  std::chrono::nanoseconds time_;
};

}  // namespace actorflow
