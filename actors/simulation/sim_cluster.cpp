#include "actors/simulation/sim_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "actors/simulation/seeds.h"
#include "actors/simulation/sim_cluster_impl.h"
#include "dataflow/values/check.h"
#include "kernels/core/kernel.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;
using Nanoseconds = std::chrono::nanoseconds;

std::unique_ptr<Schedule> make_schedule(const SimOptions& options) {
  return options.schedule ? options.schedule() : std::make_unique<RandomSchedule>(~options.seed);
}

ClusterSpec cluster_of(const std::vector<SimCluster::Job>& jobs) {
  if (jobs.empty())
    throw invalid_argument("a simulated cluster has no task: expected jobs, as in {{\"worker\", 2}}");
  ClusterSpec::Jobs spec;
  for (const auto& job : jobs) {
    if (job.tasks < 1)
      throw invalid_argument(fmt::format(
          "job '{}' of a simulated cluster: expected 1 task or more, got {}", job.name, job.tasks));
    if (spec.contains(job.name))
      throw invalid_argument(
          fmt::format("a simulated cluster has two jobs '{}'; give one all of their tasks", job.name));
    for (int i = 0; i < job.tasks; ++i) spec[job.name][i] = fmt::format("{}-{}:2222", job.name, i);
  }
  return ClusterSpec(std::move(spec));
}

void expect_probability(const char* what, double value) {
  if (!(value >= 0 && value <= 1))
    throw invalid_argument(
        fmt::format("links.{}: expected a fraction from 0 to 1, got {}", what, value));
}

SimOptions checked(SimOptions options) {
  const auto expect = [](const char* what, bool good, Nanoseconds value, const char* expected) {
    if (!good)
      throw invalid_argument(
          fmt::format("{}: expected a time {}, got {} ns", what, expected, value.count()));
  };
  const LinkModel& links = options.links;
  expect("time_limit", options.time_limit > 0ns, options.time_limit, "above 0");
  expect("longest_kernel", options.longest_kernel >= 0ns, options.longest_kernel, "of 0 or more");
  expect("restart_failed", options.restart_failed >= 0ns, options.restart_failed, "of 0 or more");
  expect("links.latency", links.latency >= 0ns, links.latency, "of 0 or more");
  if (!(links.bytes_per_second > 0))
    throw invalid_argument(fmt::format("links.bytes_per_second: expected a positive number, got {}",
                                       links.bytes_per_second));
  expect_probability("loss", links.loss);
  expect_probability("duplication", links.duplication);
  expect_probability("late", links.late);
  return options;
}

}  // namespace

SimCluster::Impl::Impl(const std::vector<Job>& jobs, SimOptions sim_options)
    : options(checked(std::move(sim_options))),
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

SimCluster::SimCluster(const std::vector<Job>& jobs) : SimCluster(jobs, of_this_seed({})) {}

SimCluster::SimCluster(const std::vector<Job>& jobs, SimOptions options)
    : impl_(std::make_unique<Impl>(jobs, std::move(options))) {}

SimCluster::~SimCluster() {
  auto* const scope = SeedScope::current();
  const bool failing = std::uncaught_exceptions() > impl_->exceptions_before;
  if (impl_->progress == Impl::Progress::started && !failing) {
    if (scope)
      scope->was_not_run();
    else
      fmt::print(stderr, "warning: {}\n", SeedScope::why_not_run);
  }
  if (!scope) return;
  scope->ran(trace_hash());
  if (scope->trace_path().empty() || !impl_->options.record) return;
  try {
    write_trace(posix_storage(), scope->trace_path());
    scope->trace_is_written();
  } catch (const Error& error) {
    impl_->log.line(error.what());
  }
}

const ClusterSpec& SimCluster::cluster() const { return impl_->cluster; }

void SimCluster::start_programs(std::function<std::any(SimTask&)> program) {
  if (impl_->progress != Impl::Progress::not_started)
    throw Error(Code::failed_precondition,
                "this simulated cluster has been started before; make another one for another run");
  impl_->progress = Impl::Progress::started;
  impl_->program = std::move(program);
  for (const auto& machine : impl_->machines) machine->start();
}

SimCluster::Moment SimCluster::at(Nanoseconds time) { return {*this, time}; }
SimCluster::Moment SimCluster::now() { return at(elapsed()); }
Nanoseconds SimCluster::elapsed() const { return impl_->world.elapsed(); }

void SimCluster::apply(const FaultPlan& plan) {
  check_faults(plan, impl_->cluster.all_tasks());
  for (const auto& fault : plan)
    if (fault.at < elapsed())
      throw invalid_argument(fmt::format("the fault '{}' is in the past: {:.6f} s have passed",
                                         fault.to_string(),
                                         std::chrono::duration<double>(elapsed()).count()));
  for (const auto& fault : plan) impl_->add(fault);
}

void SimCluster::apply(const RandomFaults& random) {
  apply(random_fault_plan(impl_->options.seed, impl_->cluster.all_tasks(), random));
}

const FaultPlan& SimCluster::faults() const { return impl_->faults; }

SimCluster::Moment& SimCluster::Moment::isolate(std::string_view task, Duration duration) {
  const TaskName alone = TaskName::parse(task);
  for (const auto& other : cluster_.cluster().all_tasks())
    if (other != alone) add({time_, FaultKind::partition, alone, other, duration});
  return *this;
}

SimCluster::Moment& SimCluster::Moment::call(std::function<void()> action) {
  if (time_ < cluster_.elapsed())
    throw invalid_argument(fmt::format("a call at {} s is in the past: {:.6f} s have passed",
                                       std::chrono::duration<double>(time_).count(),
                                       std::chrono::duration<double>(cluster_.elapsed()).count()));
  cluster_.world().at(World::beginning + time_, std::move(action));
  return *this;
}

void SimCluster::add_check(std::string name, std::function<bool()> holds, Nanoseconds every) {
  impl_->checks.add(std::move(name), std::move(holds), every);
}

std::any& SimCluster::result_of(std::string_view task) {
  return impl_->machine(TaskName::parse(task)).result();
}

Storage& SimCluster::disk() { return impl_->storage; }
SimStorage& SimCluster::storage() { return impl_->storage; }
SimNetwork& SimCluster::network() { return impl_->network; }
World& SimCluster::world() { return impl_->world; }

SimStatistics SimCluster::statistics() const {
  std::uint64_t happened = 0;
  for (const auto& [kind, count] : impl_->happened) happened += count;
  return {impl_->world.elapsed(), impl_->world.activations(), impl_->network.messages(),
          impl_->happened,        impl_->planned - happened,  impl_->ends};
}

std::string SimCluster::last_lines() const { return impl_->log.last_lines(); }
std::uint64_t SimCluster::trace_hash() const { return impl_->world.trace().hash(); }

void SimCluster::write_trace(Storage& to, const std::string& path) const {
  ACTORFLOW_CHECK(impl_->options.record, "no record for", path);
  impl_->world.trace().write(to, path, impl_->world.track_names());
}

}  // namespace actorflow
