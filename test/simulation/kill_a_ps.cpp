// What a user writes to see that his training survives: the README shows it.
#include "actors/simulation/simulation_test.h"

#include "actors/actorflow.h"

BOOST_AUTO_TEST_SUITE(kill_a_ps)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

// A user's own training: fits w to 3, with two synchronous workers. Returns w.
float fit(SimTask& task) {
  Server& server = task.server();
  const bool is_chief = server.name() == TaskName{"worker", 0};
  if (server.name().job == "ps") return server.join(), 0;
  Graph g;
  Variable w;
  TrainOp train;
  g.on(replica_device_setter(1, "ps", server.name().to_string()), [&] {
    const Variable step = global_step(g);
    w = g.variable("w", g.constant(0.0F));
    train = minimize(g, square(w - g.constant(3.0F)), {w}, step, Momentum{0.05, 0.5},
                     {.replica = server.name().index, .replicas = 2, .strategy = Synchronous{}});
  });
  MonitoredOptions options;
  options.is_chief = is_chief;
  options.checkpoint_dir = "checkpoints";
  options.save_checkpoint = {.steps = 10};
  options.hooks = {stop_at_step(100), sync_replicas(train)};
  MonitoredSession session(server, g, options);
  while (!session.should_stop()) session.run(train);
  if (!is_chief) {
    server.announce_done({"worker", 0});
    return server.join(), 0;
  }
  server.wait_until_done({{"worker", 1}}, 60'000);
  session.close();
  const float result = session.session().run(w).scalar<float>();
  server.shutdown_cluster("w has been fitted");
  return result;
}

float undisturbed() {
  SimCluster sim({{"ps", 1}, {"worker", 2}});
  return sim.start(fit).finish("/job:worker/task:0");
}

}  // namespace

SIMULATION_TEST(a_killed_ps_changes_nothing, seeds(1, 20)) {
  SimCluster sim({{"ps", 1}, {"worker", 2}});
  auto run = sim.start(fit);
  sim.at(50ms).kill("/job:ps/task:0");
  sim.at(2s).restart("/job:ps/task:0");
  BOOST_TEST(run.finish("/job:worker/task:0") == undisturbed());
  BOOST_TEST((sim.statistics().simulated > 2s));  // it was needed
}

BOOST_AUTO_TEST_SUITE_END()
