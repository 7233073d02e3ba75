// A simulated machine: its process begins, ends, dies, and is started again.
#include <fmt/format.h>

#include "actors/simulation/sim_cluster_impl.h"
#include "actors/simulation/world/fiber.h"

namespace actorflow {

using namespace std::chrono_literals;

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
  } catch (const Fiber::Unwind&) {
    throw;
  } catch (...) {  // as BOOST_REQUIRE does; nothing may leave the client's stack
    failure_ = {Code::unknown, "it threw what is no std::exception, as a failed BOOST_REQUIRE does"};
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

}  // namespace actorflow
