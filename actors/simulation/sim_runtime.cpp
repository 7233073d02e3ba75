#include "actors/simulation/sim_runtime.h"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/detail/test_actor_clock.hpp>
#include <caf/event_based_actor.hpp>

#include "actors/runtime/scheduler.h"
#include "kernels/devices/team.h"

namespace actorflow {
namespace {

// The actors' timers.
class SimActorClock final : public caf::detail::test_actor_clock {
 public:
  World::Time next() const { return schedule_.empty() ? Clock::never : schedule_.begin()->first; }
  void advance_to(World::Time now) { advance_time(now - current_time); }
  void forget() { schedule_.clear(); }
};

// Hands every actor to the world, which decides whose turn it is.
class SimScheduler final : public TaskScheduler, public World::Engine {
 public:
  SimScheduler(caf::actor_system& system, World& world)
      : TaskScheduler(system), world_(world), unit_(*this), piece_unit_(*this) {
    clock_.current_time = World::beginning;
    world_.set_engine(this);
  }
  ~SimScheduler() override { world_.set_engine(nullptr); }

  void enqueue(caf::resumable* actor) override { world_.ready(actor); }
  caf::actor_clock& clock() noexcept override { return clock_; }
  caf::execution_unit& piece_unit() override { return piece_unit_; }
  // One helper, so that lanes hand nodes over and the schedule decides which comes first.
  int helpers() const override { return 1; }
  bool in_real_time() const override { return false; }
  void end_task(const std::string& reason) override { world_.end_task(reason); }
  bool detaches_utility_actors() const override { return false; }

  caf::execution_unit& unit() override { return unit_; }
  World::Time next_timer() const override { return clock_.next(); }
  void advance_timers(World::Time now) override { clock_.advance_to(now); }

 protected:
  // CAF requires a printer; nothing here prints through it.
  void start() override {
    utility_actors_[printer_id] = system().spawn<caf::hidden + caf::lazy_init>(
        [](caf::event_based_actor*) -> caf::behavior { return {[](const std::string&) {}}; });
  }
  void stop() override {
    utility_actors_[printer_id] = nullptr;
    clock_.forget();
    world_.run_down();  // CAF has told its own actors to end
  }

 private:
  struct Unit final : caf::execution_unit {
    explicit Unit(SimScheduler& s) : caf::execution_unit(&s.system()), scheduler(s) {}
    void exec_later(caf::resumable* actor) override { scheduler.enqueue(actor); }
    SimScheduler& scheduler;
  };
  struct PieceUnit final : caf::execution_unit {
    explicit PieceUnit(SimScheduler& s) : caf::execution_unit(&s.system()), scheduler(s) {}
    void exec_later(caf::resumable* actor) override { scheduler.world_.ready_piece(actor); }
    SimScheduler& scheduler;
  };

  World& world_;
  SimActorClock clock_;
  Unit unit_;
  PieceUnit piece_unit_;
};

struct Config : caf::actor_system_config {
  explicit Config(World& world) {
    set("scheduler.max-threads", std::size_t{1});
    set("scheduler.max-throughput", std::size_t{1});
    module_factories.push_back(
        [&world](caf::actor_system& system) { return new SimScheduler(system, world); });
  }
};

class OneThread final : public Team {
 public:
  void run(int parts, const std::function<void(int)>& part) override {
    for (int i = 0; i < parts; ++i) part(i);
  }
};

// The clock by which lanes measure their kernels. Each look at it takes a random while of simulated
// time, and a piece of computing waits there until its computing so far is over: so what computes is
// busy meanwhile, and what lanes conclude from the times differs from seed to seed.
class SimClock final : public Clock {
 public:
  SimClock(World& world, std::chrono::nanoseconds longest)
      : world_(world), longest_ns_(static_cast<std::uint64_t>(longest.count())) {}
  time_point now() override {
    if (world_.current() != outside && longest_ns_ > 0)
      world_.charge(std::chrono::nanoseconds(world_.random().below(longest_ns_)));
    world_.pass_charged();
    return world_.local_now();
  }

 private:
  World& world_;
  const std::uint64_t longest_ns_;
};

class SimRandom final : public Random {
 public:
  explicit SimRandom(World& world) : world_(world) {}
  std::uint64_t next() override { return world_.random().next(); }

 private:
  World& world_;
};

}  // namespace

struct SimRuntime::Impl {
  Impl(World& world, std::chrono::nanoseconds longest_kernel)
      : config(world), system(config), clock(world, longest_kernel), random(world) {
    system.await_actors_before_shutdown(false);
  }

  Config config;
  caf::actor_system system;
  OneThread team;
  SimClock clock;
  SimRandom random;
};

SimRuntime::SimRuntime(World& world, Network& network, Storage& storage,
                       std::chrono::nanoseconds longest_kernel, const Library& library)
    : world_(world),
      network_(network),
      storage_(storage),
      library_(library),
      impl_(std::make_unique<Impl>(world, longest_kernel)) {}

SimRuntime::~SimRuntime() = default;

caf::actor_system& SimRuntime::system() { return impl_->system; }
Team& SimRuntime::team() { return impl_->team; }
Clock& SimRuntime::clock() { return impl_->clock; }
Random& SimRuntime::random() { return impl_->random; }

}  // namespace actorflow
