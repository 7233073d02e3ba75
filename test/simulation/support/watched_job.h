// The project's training, whose checkpoints are looked at while it runs.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "actors/simulation/seeds.h"
#include "actors/simulation/sim_cluster.h"
#include "actors/simulation/sim_storage.h"
#include "apps/scenario/scenario.h"
#include "apps/training/train_replica.h"
#include "test/support/checkpoint_watch.h"

namespace actorflow::test {

// Two parameter servers and three workers with Adam, who save every third step.
struct WatchedJob {
  // `settings`: of a scenario, besides those.
  explicit WatchedJob(const std::string& name, std::vector<std::string> settings)
      : scenario(Scenario::read(
            fmt::format("{}/test/simulation/support/{}.scenario", ACTORFLOW_SOURCE_DIR, name),
            settings)) {}

  // With the faults of the seed that runs. Throws internal unless the checkpoints are what they say.
  CheckpointWatch run() const {
    static const std::atomic<bool> never{false};
    TrainOptions train = scenario.train();
    train.checkpoint_folder = "checkpoints";
    CheckpointWatch watch(train.checkpoint_folder);
    const SimOptions options =
        of_this_seed({.longest_kernel = std::chrono::nanoseconds(scenario.flags().kernel_time),
                      .time_limit = std::chrono::minutes(10),
                      .restart_failed = restart_pause});
    SimCluster sim(scenario.jobs(), options);
    auto programs = sim.start([&](SimTask& task) {
      if (task.server().name().job == "ps")
        serve_parameters(task.server(), train);
      else
        train_replica(task.server(), scenario.data(), train, never, nullptr);
    });
    sim.always("checkpoints are what they say", [&] { watch.look(sim.storage()); });
    sim.apply(scenario.faults(options.seed));
    programs.finish();
    watch.look(sim.storage());
    return watch;
  }

  // The same, and all must be of one step.
  void expect_one_step() const {
    const CheckpointWatch watch = run();
    if (watch.seen() < 10)
      throw Error(Code::internal, fmt::format("only {} checkpoints were seen", watch.seen()));
    if (watch.of_several_steps() > 0)
      throw Error(Code::internal,
                  fmt::format("{} checkpoints are not of one step", watch.of_several_steps()));
  }

  Scenario scenario;
};

}  // namespace actorflow::test
