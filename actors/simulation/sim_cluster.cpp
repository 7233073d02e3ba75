#include "actors/simulation/sim_cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/simulation/seeds.h"
#include "actors/simulation/sim_cluster_impl.h"
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

SimCluster::Impl::Machine& SimCluster::Impl::machine(const TaskName& name) {
  for (const auto& machine : machines)
    if (machine->name() == name) return *machine;
  throw invalid_argument(fmt::format("the simulated cluster has no task {}", name.to_string()));
}

Storage& SimCluster::Impl::present_storage() {
  if (world.current() == outside) return storage;
  return machines.at(static_cast<std::size_t>(world.current()))->storage();  // the only tracks
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
  auto* const scope = SeedScope::current();
  if (!scope || scope->trace_path().empty() || !impl_->options.record) return;
  try {
    write_trace(posix_storage(), scope->trace_path());
    scope->trace_is_written();
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
    if (fault.at < 0ns || fault.duration < 0ns)
      throw invalid_argument(fmt::format("the fault '{}' has a negative time", fault.to_string()));
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
