// What a simulated cluster consists of. For the sources of SimCluster only.
#pragma once

#include <any>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/simulation/sim_checks.h"
#include "actors/simulation/sim_cluster.h"
#include "actors/simulation/sim_log.h"
#include "actors/simulation/sim_network.h"
#include "actors/simulation/sim_runtime.h"
#include "actors/simulation/sim_storage.h"
#include "actors/simulation/world/world.h"
#include "dataflow/values/error.h"

namespace actorflow {

struct SimCluster::Impl {
  using Duration = std::chrono::nanoseconds;

  // A machine, and the process on it.
  class Machine final : public SimTask {
   public:
    Machine(Impl& sim, TaskName name)
        : sim_(sim), name_(std::move(name)), track_(sim.world.add_track(name_.to_string())) {}

    Server& server() override { return *server_; }
    Storage& storage() override { return *storage_; }
    int life() const override { return life_; }
    void sleep(std::chrono::nanoseconds duration) override { sim_.runtime.sleep(duration); }

    const TaskName& name() const { return name_; }
    TrackId track() const { return track_; }
    bool running() const { return running_; }
    const std::optional<Status>& failure() const { return failure_; }
    // Whether the process is dead and will be started again.
    bool restarts() const { return restarts_ || (failure_ && restarts_due_ > 0); }
    void expect_restart() { ++restarts_due_; }
    // Starts the process again if it has failed or was killed; one that has ended by itself stays so.
    void restart() {
      --restarts_due_;
      if (failure_) start();
    }
    std::any& result() { return result_; }

    void start();
    void kill();
    // The process has ended itself, for this reason.
    void crashed(const std::string& reason);

   private:
    void live();
    void leave_behind(Status failure);
    void restart_after(const Status& failure);

    Impl& sim_;
    const TaskName name_;
    const TrackId track_;
    int life_ = 0;
    bool running_ = false;
    bool restarts_ = false;
    int restarts_due_ = 0;
    Storage* storage_ = nullptr;  // of this life
    std::unique_ptr<Server> server_;
    std::optional<Status> failure_;
    std::any result_;
  };

  // The runtime as each process sees it: what one knows of the shared disk ends with it.
  class TaskRuntime final : public SimRuntime {
   public:
    explicit TaskRuntime(SimCluster::Impl& sim)
        : SimRuntime(sim.world, sim.network, sim.storage, sim.options.longest_kernel, sim.library),
          sim_(sim) {}

    Storage& storage() override { return sim_.present_storage(); }

   private:
    SimCluster::Impl& sim_;
  };

  // What has become of the programs.
  enum class Progress : std::uint8_t { not_started, started, ended };

  Impl(const std::vector<Job>& jobs, SimOptions sim_options);
  ~Impl();

  Machine& machine(const TaskName& name);
  Storage& present_storage();

  // Adds a fault, which happens unless `options.only` leaves it out.
  void add(const Fault& fault);
  void happen(const Fault& fault);
  // Calls begin() now, and end() when the fault's duration has passed and no other fault of its kind
  // and tasks lasts.
  void during(const Fault& fault, const std::function<void()>& begin, std::function<void()> end);
  // Sets that field of the present faults meanwhile.
  template <class Faults, class T>
  void set_during(const Fault& fault, Faults& present, T Faults::*of, std::type_identity_t<T> value);
  LinkFaults& links_of(const Fault& fault);
  DiskFaults& disk_of(const Fault& fault);
  void cut(const Fault& fault);
  void lose_power(const Fault& fault);

  // Runs until done(), but not beyond `end`. False if that is reached, or nothing is left to do. Throws
  // failed_precondition if the world runs already, and deadline_exceeded if its time stands still.
  bool run_until(World::Time end, const std::function<bool()>& done);
  void expect_progress();
  bool over() const;
  // Throws the error of a program that has failed and will not be restarted.
  void expect_success() const;
  std::string describe_tasks() const;
  // The error with this text, what every task is doing, and the last that they said.
  Error hangs(const std::string& text) const;

  const SimOptions options;
  const ClusterSpec cluster;
  Library library;
  World world;
  SimLog log;
  SimNetwork network;
  SimStorage storage;
  std::deque<FileStorage> storages;  // of all lives of tasks
  TaskRuntime runtime;
  std::vector<std::unique_ptr<Machine>> machines;
  std::vector<std::unique_ptr<Server>> dead_servers;
  std::function<std::any(SimTask&)> program;
  FaultPlan faults;
  std::map<FaultKind, std::uint64_t> happened;
  // How many faults of a kind last now, by their tasks.
  std::map<std::tuple<FaultKind, TaskName, TaskName>, int> lasting;
  std::uint64_t planned = 0;      // how many faults are to happen
  std::vector<std::string> ends;  // why tasks have ended themselves
  SimChecks checks;
  Progress progress = Progress::not_started;
  bool running = false;  // within run_until()
  World::Time stands_still_at = World::beginning;
  std::uint64_t steps_there = 0;
  const int exceptions_before = std::uncaught_exceptions();
};

}  // namespace actorflow
