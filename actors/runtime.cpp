#include "actors/runtime.h"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <mutex>
#include <thread>

#include <spdlog/spdlog.h>

#include "actors/scheduler.h"
#include "actors/scheduler_team.h"
#include "actors/thread_unit.h"
#include "kernels/kernel.h"
#include "schema/local_network.h"
#include "schema/rpc_network.h"

namespace actorflow {
namespace {

struct Config : caf::actor_system_config {
  explicit Config(const RuntimeOptions& options) {
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    set("scheduler.max-threads",
        static_cast<std::size_t>(options.num_threads > 0 ? options.num_threads : cores));
    set("scheduler.max-throughput", std::size_t{300});
    module_factories.push_back([](caf::actor_system& system) { return new Scheduler(system); });
  }
};

}  // namespace

struct Runtime::Impl {
  explicit Impl(const RuntimeOptions& runtime_options)
      : options(runtime_options), config(options), system(config), local(make_local_network()) {}

  RuntimeOptions options;
  Config config;
  caf::actor_system system;
  SchedulerTeam team{Scheduler::of(system)};
  std::unique_ptr<Network> local;
  std::once_flag rpc_made;
  std::unique_ptr<Network> rpc;
};

Runtime::Runtime(const RuntimeOptions& options) : impl_(std::make_unique<Impl>(options)) {}

Runtime::~Runtime() = default;

caf::actor_system& Runtime::system() { return impl_->system; }

Team& Runtime::team() { return impl_->team; }

Scheduler& Runtime::scheduler() { return Scheduler::of(impl_->system); }

Network& Runtime::local_network() { return *impl_->local; }

// Made when it is first needed: it has a thread, which a program in one process has no use for.
Network& Runtime::rpc_network() {
  std::call_once(impl_->rpc_made, [this] {
    RpcOptions options;
    options.allow_remote = impl_->options.allow_remote;
    options.spin_us = impl_->options.spin_us;
    // Light actors that a message wakes run on the network's thread: to wake another one for them takes
    // longer than their work.
    options.dispatch = [&scheduler = scheduler()](const std::function<void()>& callbacks) {
      const Attendance attendance(scheduler, Duty::light);
      callbacks();
      attendance.unit().run_ready();
    };
    options.on_warning = [](const std::string& text) { spdlog::warn("{}", text); };
    impl_->rpc = make_rpc_network(builtin_ops().registry(), cpu_device().allocator(), options);
  });
  return *impl_->rpc;
}

}  // namespace actorflow
