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
  // How long a kernel takes at most; how long it does is drawn from the seed.
  std::chrono::nanoseconds longest_kernel = std::chrono::microseconds(40);
  // A run that takes longer, in simulated time, has failed: it hangs.
  std::chrono::nanoseconds time_limit = std::chrono::hours(1);
  // A program that ends with an error begins anew after so long, as under a supervisor; 0 = never.
  std::chrono::nanoseconds restart_failed{0};
  // Keep what is needed to write a trace.
  bool record = false;
  // Who comes first; none: at random, by the seed.
  std::function<std::unique_ptr<Schedule>()> schedule{};
  // Of the faults that are asked for only these happen; none: all.
  std::optional<FaultPlan> only{};
};

// A task in its present life, as its program sees it.
class SimTask {
 public:
  virtual ~SimTask() = default;
  virtual Server& server() = 0;
  // The disk that all tasks share.
  virtual Storage& storage() = 0;
  // 1 for the first, one more after each restart.
  virtual int life() const = 0;
  // Lets virtual time pass.
  virtual void sleep(std::chrono::nanoseconds duration) = 0;
};

// What happened in a run.
struct SimStatistics {
  std::chrono::nanoseconds simulated{0};
  std::uint64_t activations = 0;  // of actors and clients: a message each, mostly
  std::uint64_t messages = 0;     // between tasks
  std::map<FaultKind, std::uint64_t> faults;
  std::vector<std::string> ends;  // why tasks have ended themselves
};

// Not thread-safe. One at a time exists in a thread.
class SimCluster {
 public:
  struct Job {
    std::string name;
    int tasks = 1;
  };
  template <class R>
  class Run;
  class Moment;

  // With the options of the seed that runs (of_this_seed() in seeds.h).
  explicit SimCluster(const std::vector<Job>& jobs);
  SimCluster(const std::vector<Job>& jobs, SimOptions options);
  ~SimCluster();
  SimCluster(const SimCluster&) = delete;
  SimCluster& operator=(const SimCluster&) = delete;

  const ClusterSpec& cluster() const;

  // What every task does: the body of its process. It blocks like any client, in virtual time; when it
  // returns, its process ends. Once per cluster.
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
  void apply(const FaultPlan& plan);
  // All that were asked for.
  const FaultPlan& faults() const;
  // Is asked every so often, and when the run has ended; it throws when something is not as it must be.
  void always(std::string name, std::function<void()> check);

  SimStorage& storage();
  SimNetwork& network();
  World& world();
  SimStatistics statistics() const;
  // Equal for equal runs.
  std::uint64_t trace_hash() const;
  // Writes what Perfetto and chrome://tracing open. REQUIRES: SimOptions::record.
  void write_trace(Storage& to, const std::string& path) const;

 private:
  struct Impl;
  void start_programs(std::function<std::any(SimTask&)> program);
  // Until every program has ended. Throws the error of a task that failed and was not restarted, or
  // deadline_exceeded, saying what every task does, if the run hangs; with the last lines of the log.
  void finish();
  std::any& result_of(std::string_view task);

  std::unique_ptr<Impl> impl_;
};

template <class R>
class SimCluster::Run {
 public:
  explicit Run(SimCluster& cluster) : cluster_(cluster) {}

  void finish() { cluster_.finish(); }
  // What the program returned there.
  auto finish(std::string_view task) {
    cluster_.finish();
    if constexpr (!std::is_void_v<R>) return std::any_cast<R>(cluster_.result_of(task));
  }

 private:
  SimCluster& cluster_;
};

// Faults of one moment.
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
