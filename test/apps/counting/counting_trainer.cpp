// A task of an asynchronous job that does nothing but count its updates (test/support/counting.h), with
// the flags of the trainer's cluster. The chief reports what says how many there were.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/cli/cluster_flags.h"
#include "test/apps/support/flags_program.h"
#include "test/support/counting.h"

namespace actorflow {
namespace {

struct CountingFlags {
  ClusterFlags cluster;
  std::int64_t steps = 1000;
  double heartbeat_timeout_s = 5;
  std::string report;

  void add_to(Command& command) {
    cluster.add_to(command);
    command.option("--steps", steps, "Of each worker");
    command.option("--report", report, "The chief's");
    command.option("--heartbeat_timeout", heartbeat_timeout_s, "Seconds");
  }
};

MonitoredOptions monitored(const TaskConfig& config, const TrainOp& train) {
  MonitoredOptions options;
  options.is_chief = config.is_chief();
  options.chief = config.chief();
  options.log_step_count_steps = 0;
  options.max_wait_secs = 60;
  options.hooks = {sync_replicas(train)};
  return options;
}

// Each fifty that it has passed.
void tell(std::int64_t steps) {
  constexpr std::int64_t interval = 50;
  static std::int64_t told = -1;
  if (steps / interval <= told) return;
  told = steps / interval;
  fmt::print("counted {}\n", told * interval);
  std::fflush(stdout);
}

void work(Server& server, const CountingFlags& flags, const TaskConfig& config) {
  test::Counting model(config.task, config.replica, config.num_replicas());
  MonitoredSession session(server, model.g, monitored(config, model.train));
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  test::count_to(flags.steps, session, model, pause, tell);
  if (!config.is_chief()) return static_cast<void>(server.join());
  const nlohmann::json report = {{"witnesses", test::witnesses(session.session(), model)}};
  session.close();
  std::ofstream(flags.report) << report;
  server.shutdown_cluster("all have counted");
}

int run(const CountingFlags& flags) {
  const TaskConfig config = flags.cluster.task();
  ServerOptions options;
  options.cluster = config.cluster;
  options.job = config.task.job;
  options.task = config.task.index;
  options.num_threads = 1;
  options.heartbeat_timeout_ms = std::llround(flags.heartbeat_timeout_s * 1000);
  Server server(options);
  if (config.replica < 0)
    server.join();
  else
    work(server, flags, config);
  return success;
}

}  // namespace
}  // namespace actorflow

int main(int argc, char** argv) {
  return actorflow::test::run_with_flags("Counts updates as one task of a cluster", "counting_trainer",
                                         argc, argv, actorflow::run);
}
