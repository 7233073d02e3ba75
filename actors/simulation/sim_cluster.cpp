#include "actors/simulation/sim_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "actors/simulation/seeds.h"
#include "actors/simulation/sim_log.h"
#include "actors/simulation/sim_network.h"
#include "actors/simulation/sim_runtime.h"
#include "actors/simulation/sim_storage.h"
#include "actors/simulation/world.h"
#include "dataflow/values/check.h"
#include "kernels/core/kernel.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;
using Nanoseconds = std::chrono::nanoseconds;

constexpr Nanoseconds check_interval = 100ms;

std::unique_ptr<Schedule> make_schedule(const SimOptions& options) {
  return options.schedule ? options.schedule() : std::make_unique<RandomSchedule>(~options.seed);
}

ClusterSpec cluster_of(const std::vector<SimCluster::Job>& jobs) {
  ClusterSpec::Jobs spec;
  for (const auto& job : jobs)
    for (int i = 0; i < job.tasks; ++i) spec[job.name][i] = fmt::format("{}-{}:2222", job.name, i);
  return ClusterSpec(std::move(spec));
}

}  // namespace

struct SimCluster::Impl {
  // A machine, and the process on it.
  class Machine final : public SimTask {
   public:
    Machine(Impl& sim, TaskName name)
        : sim_(sim), name_(std::move(name)), track_(sim.world.add_track(name_.to_string())) {}

    Server& server() override { return *server_; }
    Storage& storage() override { return *storage_; }
    int life() const override { return life_; }
    void sleep(Nanoseconds duration) override { sim_.runtime.sleep(duration); }

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

  Impl(const std::vector<Job>& jobs, SimOptions sim_options);
  ~Impl();

  Machine& machine(const TaskName& name);
  Storage& present_storage();
  void happen(const Fault& fault);
  // Calls begin() now, and end() when the fault's duration has passed.
  void during(const Fault& fault, const std::function<void()>& begin, std::function<void()> end);
  void change_links(const Fault& fault, double LinkModel::*probability, double value);
  void lose_power(const Fault& fault);
  void check() const;
  std::string describe_tasks() const;
  bool over() const;

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
  std::vector<std::string> ends;  // why tasks have ended themselves
  std::vector<std::pair<std::string, std::function<void()>>> checks;
};

SimCluster::Impl::Impl(const std::vector<Job>& jobs, SimOptions sim_options)
    : options(std::move(sim_options)),
      cluster(cluster_of(jobs)),
      library(options.extensions),
      world(options.seed, make_schedule(options), options.record),
      log(world),
      network(world, library.ops().registry(), cpu_device().allocator()),
      storage(world),
      runtime(*this) {
  network.set_model(options.links);
  world.on_end_of_task([this](TrackId track, const std::string& reason) {
    for (const auto& machine : machines)
      if (machine->track() == track) machine->crashed(reason);
  });
  for (const auto& task : cluster.all_tasks())
    machines.push_back(std::make_unique<Machine>(*this, task));
}

SimCluster::Impl::~Impl() {
  world.dismantle();
  machines.clear();
  dead_servers.clear();
}

void SimCluster::Impl::Machine::start() {
  if (running_) return;
  running_ = true;
  restarts_ = false;
  failure_.reset();
  ++life_;
  storage_ = &sim_.storages.emplace_back(sim_.storage.files());
  sim_.world.start(track_, [this] { live(); });
}

void SimCluster::Impl::Machine::live() {
  try {
    ServerOptions options;
    options.cluster = sim_.cluster;
    options.job = name_.job;
    options.task = name_.index;
    options.start_number = static_cast<std::uint32_t>(life_);
    options.runtime = std::shared_ptr<Runtime>(&sim_.runtime, [](Runtime*) {});
    server_ = std::make_unique<Server>(std::move(options));
    result_ = sim_.program(*this);
  } catch (const Error& error) {
    failure_ = error.status();
  } catch (const std::exception& error) {
    failure_ = {Code::unknown, error.what()};
  }
  server_.reset();
  running_ = false;
  if (failure_) restart_after(*failure_);
}

// Starts the program again later, as a supervisor does.
void SimCluster::Impl::Machine::restart_after(const Status& failure) {
  sim_.log.line(fmt::format("the program failed: {}", failure.to_string()));
  if (sim_.options.restart_failed == 0ns) return;
  restarts_ = true;
  sim_.world.after(sim_.options.restart_failed, [this] { start(); });
}

void SimCluster::Impl::Machine::kill() {
  if (!running_) return;
  sim_.world.end_life(track_);
  leave_behind({Code::aborted, "it was killed and not restarted"});
}

void SimCluster::Impl::Machine::crashed(const std::string& reason) {
  if (!running_) return;
  sim_.ends.push_back(reason);
  leave_behind({Code::internal, "it ended itself, because " + reason});
  restart_after(*failure_);
}

// What the process leaves behind when it dies: its actors and its client stay as they are, and never run
// again.
void SimCluster::Impl::Machine::leave_behind(Status failure) {
  running_ = false;
  sim_.network.process_died(track_);
  if (server_) sim_.dead_servers.push_back(std::move(server_));
  failure_ = std::move(failure);
}

SimCluster::Impl::Machine& SimCluster::Impl::machine(const TaskName& name) {
  for (const auto& machine : machines)
    if (machine->name() == name) return *machine;
  throw invalid_argument(fmt::format("the simulated cluster has no task {}", name.to_string()));
}

Storage& SimCluster::Impl::present_storage() {
  if (world.current() == outside) return storage;
  return machines.at(static_cast<std::size_t>(world.current()))->storage();  // the only tracks
}

void SimCluster::Impl::during(const Fault& fault, const std::function<void()>& begin,
                              std::function<void()> end) {
  begin();
  world.after(fault.duration, std::move(end));
}

void SimCluster::Impl::change_links(const Fault& fault, double LinkModel::*probability, double value) {
  const auto set = [this, probability](double to) {
    LinkModel model = network.model();
    model.*probability = to;
    network.set_model(model);
  };
  during(fault, [&] { set(value); }, [this, set, probability] { set(options.links.*probability); });
}

void SimCluster::Impl::lose_power(const Fault& fault) {
  std::vector<Machine*> lost;
  for (const auto& machine : machines) {
    if (!machine->running()) continue;
    machine->kill();
    machine->expect_restart();
    lost.push_back(machine.get());
  }
  storage.files().lose_power();
  world.after(fault.duration, [lost] {
    for (auto* machine : lost) machine->restart();
  });
}

void SimCluster::Impl::happen(const Fault& fault) {
  ++happened[fault.kind];
  log.line(fault.to_string());
  world.trace().instant(world.elapsed(), outside, fault.to_string());
  const auto track = [&](const TaskName& name) { return machine(name).track(); };
  switch (fault.kind) {
    case FaultKind::kill:
      return machine(fault.task).kill();
    case FaultKind::restart:
      return machine(fault.task).restart();
    case FaultKind::pause:
      return during(fault, [&] { world.pause(track(fault.task), true); },
                    [this, t = track(fault.task)] { world.pause(t, false); });
    case FaultKind::partition:
      return during(fault, [&] { network.separate(track(fault.task), track(fault.other)); },
                    [this, a = track(fault.task), b = track(fault.other)] { network.reconnect(a, b); });
    case FaultKind::delay:
      return during(
          fault, [&] { network.delay(track(fault.task), FaultSizes::delay); },
          [this, t = track(fault.task)] { network.delay(t, 0ns); });
    case FaultKind::slow:
      return during(
          fault, [&] { world.slow_down(track(fault.task), FaultSizes::slow_factor); },
          [this, t = track(fault.task)] { world.slow_down(t, 1); });
    case FaultKind::lossy:
      return change_links(fault, &LinkModel::loss, FaultSizes::loss);
    case FaultKind::duplicate:
      return change_links(fault, &LinkModel::duplication, FaultSizes::duplication);
    case FaultKind::late:
      return change_links(fault, &LinkModel::late, FaultSizes::late);
    case FaultKind::disk_full:
      return during(fault, [&] { storage.files().set_capacity(0); },
                    [this] { storage.files().set_capacity(~std::uint64_t{0}); });
    case FaultKind::disk_errors:
      return during(fault, [&] { storage.files().set_failures(FaultSizes::disk_errors); },
                    [this] { storage.files().set_failures(0); });
    case FaultKind::power:
      return lose_power(fault);
  }
}

void SimCluster::Impl::check() const {
  for (const auto& [name, holds] : checks) {
    try {
      holds();
    } catch (const std::exception& error) {
      throw Error(Code::internal, fmt::format("'{}' does not hold at {:.6f} s: {}", name,
                                              static_cast<double>(world.elapsed().count()) / 1e9,
                                              error.what()));
    }
  }
}

bool SimCluster::Impl::over() const {
  return std::ranges::none_of(
      machines, [](const auto& machine) { return machine->running() || machine->restarts(); });
}

std::string SimCluster::Impl::describe_tasks() const {
  std::string text;
  for (const auto& machine : machines)
    text += fmt::format("\n  {}: {}", machine->name().to_string(),
                        machine->running()    ? "is still running"
                        : machine->failure() ? machine->failure()->to_string()
                                             : "has ended");
  return text;
}

SimCluster::SimCluster(const std::vector<Job>& jobs) : SimCluster(jobs, of_this_seed({})) {}

SimCluster::SimCluster(const std::vector<Job>& jobs, SimOptions options)
    : impl_(std::make_unique<Impl>(jobs, std::move(options))) {}

SimCluster::~SimCluster() {
  const auto* scope = SeedScope::current();
  if (!scope || scope->trace_path().empty() || !impl_->options.record) return;
  try {
    write_trace(posix_storage(), scope->trace_path());
  } catch (const Error& error) {
    impl_->log.line(error.what());
  }
}

const ClusterSpec& SimCluster::cluster() const { return impl_->cluster; }

void SimCluster::start_programs(std::function<std::any(SimTask&)> program) {
  impl_->program = std::move(program);
  for (const auto& machine : impl_->machines) machine->start();
}

SimCluster::Moment SimCluster::at(Nanoseconds time) { return {*this, time}; }

void SimCluster::apply(const FaultPlan& plan) {
  for (const auto& fault : plan) {
    impl_->faults.push_back(fault);
    if (auto* scope = SeedScope::current()) scope->asked(fault);
    const auto& only = impl_->options.only;
    if (only && std::ranges::find(*only, fault) == only->end()) continue;
    if (fault.kind == FaultKind::restart) impl_->machine(fault.task).expect_restart();
    impl_->world.at(World::beginning + fault.at, [this, fault] { impl_->happen(fault); });
  }
}

const FaultPlan& SimCluster::faults() const { return impl_->faults; }

void SimCluster::always(std::string name, std::function<void()> check) {
  impl_->checks.emplace_back(std::move(name), std::move(check));
}

void SimCluster::finish() {
  World& world = impl_->world;
  const World::Time end = World::beginning + impl_->options.time_limit;
  World::Time next_check = world.now();
  while (!impl_->over()) {
    if (world.now() >= next_check) {
      impl_->check();
      next_check = world.now() + check_interval;
    }
    if (world.now() >= end || !world.step())
      throw Error(Code::deadline_exceeded,
                  fmt::format("the simulation hangs: after {:.3f} s of simulated time{}\n{}",
                              static_cast<double>(world.elapsed().count()) / 1e9,
                              impl_->describe_tasks(), impl_->log.last_lines()));
  }
  impl_->check();
  for (const auto& machine : impl_->machines)
    if (machine->failure())
      throw Error(machine->failure()->code,
                  fmt::format("{} failed: {}\n{}", machine->name().to_string(),
                              machine->failure()->message, impl_->log.last_lines()));
}

std::any& SimCluster::result_of(std::string_view task) {
  return impl_->machine(TaskName::parse(task)).result();
}

SimStorage& SimCluster::storage() { return impl_->storage; }
SimNetwork& SimCluster::network() { return impl_->network; }
World& SimCluster::world() { return impl_->world; }

SimStatistics SimCluster::statistics() const {
  return {impl_->world.elapsed(), impl_->world.activations(), impl_->network.messages(),
          impl_->happened, impl_->ends};
}

std::uint64_t SimCluster::trace_hash() const { return impl_->world.trace().hash(); }

void SimCluster::write_trace(Storage& to, const std::string& path) const {
  ACTORFLOW_CHECK(impl_->options.record, "no record for", path);
  impl_->world.trace().write(to, path, impl_->world.track_names());
}

}  // namespace actorflow
