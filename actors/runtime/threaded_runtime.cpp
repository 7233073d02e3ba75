#include "actors/runtime/threaded_runtime.h"

#include <algorithm>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <mutex>
#include <thread>

#include <spdlog/spdlog.h>

#include "actors/runtime/scheduler.h"
#include "actors/runtime/scheduler_team.h"
#include "actors/runtime/thread_unit.h"
#include "kernels/core/crash_report.h"
#include "schema/local_network.h"
#include "schema/rpc/rpc_network.h"

namespace actorflow {

int num_cores() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

namespace {

struct Config : caf::actor_system_config {
  explicit Config(const RuntimeOptions& options) {
    const int cores = num_cores();
    set("scheduler.max-threads",
        static_cast<std::size_t>(options.num_threads > 0 ? options.num_threads : cores));
    set("scheduler.max-throughput", std::size_t{300});
    module_factories.push_back([](caf::actor_system& system) { return new Scheduler(system); });
  }
};

class UnitWaker final : public Waker {
 public:
  explicit UnitWaker(ThreadUnit& unit) : unit_(unit) {}
  void wake() override { unit_.stop(); }

 private:
  ThreadUnit& unit_;
};

}  // namespace

struct ThreadedRuntime::Impl {
  explicit Impl(const RuntimeOptions& runtime_options)
      : options(runtime_options),
        library(options.extensions),
        config(options),
        system(config),
        local(make_local_network()) {}

  RuntimeOptions options;
  Library library;
  Config config;
  caf::actor_system system;
  SchedulerTeam team{static_cast<Scheduler&>(system.scheduler())};
  std::unique_ptr<Network> local;
  std::once_flag rpc_made;
  std::unique_ptr<Network> rpc;
};

ThreadedRuntime::ThreadedRuntime(const RuntimeOptions& options) {
  report_crashes();
  const SystemVisit visit;
  impl_ = std::make_unique<Impl>(options);
}

ThreadedRuntime::~ThreadedRuntime() = default;

caf::actor_system& ThreadedRuntime::system() { return impl_->system; }

Team& ThreadedRuntime::team() { return impl_->team; }

Scheduler& ThreadedRuntime::scheduler() { return static_cast<Scheduler&>(impl_->system.scheduler()); }

Storage& ThreadedRuntime::storage() {
  return impl_->options.storage ? *impl_->options.storage : posix_storage();
}

const Library& ThreadedRuntime::library() const { return impl_->library; }

Network& ThreadedRuntime::local_network() { return *impl_->local; }

// The network is made when it is first needed: a program in one process has no use for its thread.
Network& ThreadedRuntime::rpc_network() {
  std::call_once(impl_->rpc_made, [this] {
    RpcOptions options;
    options.credentials = impl_->options.credentials;
    options.insecure = impl_->options.insecure;
    options.spin_us = impl_->options.spin_us;
    options.max_incoming_bytes = impl_->options.max_incoming_bytes;
    options.incoming_budget_bytes = impl_->options.incoming_budget_bytes;
    options.full_window_timeout_ms = impl_->options.full_window_timeout_ms;
    options.max_connections = impl_->options.max_connections;
    if (!impl_->options.shared_memory) options.shared_memory_bytes = 0;
    // Light actors that a message wakes run on the network's thread: waking another one would take
    // longer than their work.
    options.dispatch = [&scheduler = scheduler()](const std::function<void()>& callbacks) {
      const Attendance attendance(scheduler, Duty::light);
      callbacks();
      attendance.unit().run_ready();
    };
    options.on_warning = [](const std::string& text) { spdlog::warn("{}", text); };
    options.on_lost = [&scheduler = scheduler()](const std::string& reason) {
      scheduler.end_task(reason);
    };
    impl_->rpc = make_rpc_network(library().ops().registry(), cpu_device().allocator(), options);
  });
  return *impl_->rpc;
}

bool ThreadedRuntime::wait_until(Clock::time_point end, const std::function<void(Waker&)>& begin,
                                 const std::function<void(Waker&)>& give_up) {
  const Attendance attendance(scheduler(), Duty::compute);
  UnitWaker waker(attendance.unit());
  begin(waker);
  const bool woken = attendance.unit().run_until_stopped(end);
  if (!woken) give_up(waker);
  return woken;
}

}  // namespace actorflow
