// A simulated cluster runs: until its programs have ended, until something is true, for a while.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/simulation/sim_cluster_impl.h"

namespace actorflow {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

// They take some seconds of real time.
constexpr std::uint64_t most_steps_at_one_moment = 5'000'000;

double in_seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// Set while this exists.
class Mark {
 public:
  explicit Mark(bool& flag) : flag_(flag) { flag_ = true; }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  ~Mark() { flag_ = false; }

 private:
  bool& flag_;
};

}  // namespace

bool SimCluster::Impl::over() const {
  return std::ranges::none_of(
      machines, [](const auto& machine) { return machine->running() || machine->restarts(); });
}

std::string SimCluster::Impl::describe_tasks() const {
  std::string text;
  for (const auto& machine : machines)
    text += fmt::format("\n  {}: {}", machine->name().to_string(),
                        machine->running()   ? "is still running"
                        : machine->failure() ? machine->failure()->to_string()
                                             : "has ended");
  return text;
}

Error SimCluster::Impl::hangs(const std::string& text) const {
  return {Code::deadline_exceeded, fmt::format("{}{}\n{}", text, describe_tasks(), log.last_lines())};
}

void SimCluster::Impl::expect_success() const {
  for (const auto& machine : machines)
    if (machine->failure() && !machine->running() && !machine->restarts())
      throw Error(machine->failure()->code, fmt::format("{} failed: {}\n{}", machine->name().to_string(),
                                                        machine->failure()->message, log.last_lines()));
}

// Messages within a task take no time: those that an actor sends to itself for ever would never end.
void SimCluster::Impl::expect_progress() {
  if (std::exchange(stands_still_at, world.now()) != world.now()) steps_there = 0;
  if (++steps_there < most_steps_at_one_moment) return;
  throw hangs(fmt::format(
      "the simulation stands still: {} messages and wakes have been handled at {:.6f} s, and "
      "their time does not pass; whoever sends to itself must wait in between",
      steps_there, in_seconds(world.elapsed())));
}

bool SimCluster::Impl::run_until(World::Time end, const std::function<bool()>& done) {
  if (running)
    throw Error(
        Code::failed_precondition,
        "the simulated cluster runs already: only the test's body may run it, no task and no call");
  const Mark mark(running);
  while (!done()) {
    checks.check_due(world.now());
    if (world.now() >= end || !world.step()) return false;
    expect_progress();
  }
  return true;
}

void SimCluster::finish() {
  Impl& sim = *impl_;
  if (sim.progress == Impl::Progress::not_started)
    throw Error(Code::failed_precondition, "the simulated cluster was not started");
  sim.progress = Impl::Progress::ended;
  if (!sim.run_until(World::beginning + sim.options.time_limit, [&] { return sim.over(); }))
    throw sim.hangs(
        fmt::format("the simulation hangs: after {:.3f} s of simulated time", in_seconds(elapsed())));
  stop();
}

void SimCluster::stop() {
  impl_->progress = Impl::Progress::ended;
  impl_->checks.check_all(impl_->world.now());
  impl_->expect_success();
}

Nanoseconds SimCluster::eventually(const std::string& name, const std::function<bool()>& condition,
                                   Nanoseconds within) {
  World& world = impl_->world;
  const Nanoseconds begin = elapsed();
  world.after(within, [] {});  // so that time stops there
  if (!impl_->run_until(world.now() + within, condition))
    throw impl_->hangs(
        fmt::format("'{}' did not become true within {} s, until {:.6f} s of simulated time", name,
                    in_seconds(within), in_seconds(elapsed())));
  return elapsed() - begin;
}

void SimCluster::run_for(Nanoseconds duration) {
  World& world = impl_->world;
  world.after(duration, [] {});
  impl_->run_until(world.now() + duration, [] { return false; });
}

}  // namespace actorflow
