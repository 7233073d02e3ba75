// Training whose nodes are actors, so that the schedule orders every node of a step: the weights are those
// of lanes, whatever comes first and whoever dies.
#include <boost/test/unit_test.hpp>

#include "actors/actorflow.h"
#include "actors/simulation/simulation_test.h"

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

// Fits two weights, each on a server of its own, with three synchronous workers. Returns the weights.
std::vector<float> fit(SimTask& task, Executor executor) {
  Server& server = task.server();
  if (server.name().job == "ps") return server.join(), std::vector<float>();
  const bool is_chief = server.name() == TaskName{"worker", 0};
  Graph g;
  Variable slope, offset;
  TrainOp train;
  g.on(replica_device_setter(2, "ps", server.name().to_string()), [&] {
    const Variable step = global_step(g);
    slope = g.variable("slope", g.constant(0.0F));
    offset = g.variable("offset", g.constant(0.5F));
    const Output error = slope * 2.0F + offset - g.constant(3.0F);
    train = minimize(g, square(error) + square(offset), {slope, offset}, step, Momentum{0.02, 0.5},
                     {.replica = server.name().index, .replicas = 3, .strategy = Synchronous{}});
  });
  MonitoredOptions options;
  options.is_chief = is_chief;
  options.checkpoint_dir = "checkpoints";
  options.save_checkpoint = {.steps = 10};
  options.hooks = {stop_at_step(40), sync_replicas(train)};
  options.session.executor = executor;
  MonitoredSession session(server, g, options);
  while (!session.should_stop()) session.run(train);
  if (!is_chief) {
    server.announce_done({"worker", 0});
    return server.join(), std::vector<float>();
  }
  server.wait_until_done({{"worker", 1}, {"worker", 2}}, 60'000);
  session.close();
  const auto weights = session.session().run({slope, offset});
  server.shutdown_cluster("the weights have been fitted");
  return {weights[0].scalar<float>(), weights[1].scalar<float>()};
}

const std::vector<SimCluster::Job> jobs{{"ps", 2}, {"worker", 3}};

std::vector<float> undisturbed_lanes() {
  static const std::vector<float> weights =
      SimCluster(jobs).start([](SimTask& task) { return fit(task, Executor::lanes); })
          .finish("/job:worker/task:0");
  return weights;
}

void expect_the_weights_of_lanes(const SimOptions& options) {
  const auto expected = undisturbed_lanes();
  SimCluster sim(jobs, options);
  auto run = sim.start([](SimTask& task) { return fit(task, Executor::node_actors); });
  sim.at(30ms).kill("/job:ps/task:0");
  sim.at(2s).restart("/job:ps/task:0");
  BOOST_TEST(run.finish("/job:worker/task:0") == expected, boost::test_tools::per_element());
  BOOST_TEST((sim.statistics().simulated > 2s));  // it was needed
}

}  // namespace

BOOST_AUTO_TEST_SUITE(node_actors)

SIMULATION_TEST(a_killed_ps_and_any_order_of_nodes_change_no_bit, seeds(1, 20)) {
  expect_the_weights_of_lanes(of_this_seed({.longest_kernel = 200us}));
}

SIMULATION_TEST(neither_do_priorities_that_starve_some_nodes, seeds(1, 10)) {
  SimOptions options = of_this_seed({});
  options.schedule = [seed = options.seed] { return std::make_unique<PctSchedule>(seed, 5, 20'000); };
  expect_the_weights_of_lanes(options);
}

BOOST_AUTO_TEST_SUITE_END()
