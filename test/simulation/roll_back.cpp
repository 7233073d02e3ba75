// A gradient that is not finite takes the job back to its newest checkpoint, whatever else happens
// meanwhile.
#include "actors/actorflow.h"
#include "actors/simulation/simulation_test.h"

BOOST_AUTO_TEST_SUITE(roll_back)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t steps = 60;

// Fits w to 3 with three synchronous workers. The second one's gradient is NaN at step 25, the first time
// that it comes there. Returns w, and how often it came there.
struct Fit {
  bool has_nan = true;
  int visits = 0;

  std::pair<float, int> operator()(SimTask& task) {
    Server& server = task.server();
    const bool is_chief = server.name() == TaskName{"worker", 0};
    if (server.name().job == "ps") return server.join(), std::pair(0.0F, 0);
    Graph g;
    Variable w;
    Output noise;
    TrainOp train;
    g.on(replica_device_setter(2, "ps", server.name().to_string()), [&] {
      const Variable step = global_step(g);
      w = g.variable("w", g.constant(0.0F));
      noise = g.placeholder(DType::float32, {}, "noise");
      train = minimize(g, square(w - g.constant(3.0F)) + noise * w, {w}, step, Momentum{0.05, 0.5},
                       {.replica = server.name().index, .replicas = 3, .strategy = Synchronous{}});
    });
    std::int64_t next = 0;
    MonitoredOptions options;
    options.is_chief = is_chief;
    options.checkpoint_dir = "checkpoints";
    options.save_checkpoint = {.steps = 10};
    options.last_step = steps;
    options.max_rollbacks = 1;
    options.hooks = {sync_replicas(train),
                     feed_fn({.begin = [&](std::int64_t step) { next = step; },
                              .next =
                                  [&] {
                                    return Feeds{{noise, Tensor::scalar(at(next, server.name().index))}};
                                  }})};
    MonitoredSession session(server, g, options);
    while (!session.should_stop())
      if (const auto step = session.run(train); !step.empty()) next = step[0].scalar<std::int64_t>();
    if (!is_chief) {
      do server.announce_done({"worker", 0});
      while (!server.join_for(500));
      return {0.0F, visits};
    }
    server.wait_until_done({{"worker", 1}, {"worker", 2}}, 60'000);
    session.close();
    const float result = session.session().run(w).scalar<float>();
    server.shutdown_cluster("w has been fitted");
    return {result, 0};
  }

  float at(std::int64_t step, int replica) {
    if (replica != 1 || step != 25) return 0;
    return ++visits == 1 && has_nan ? std::numeric_limits<float>::quiet_NaN() : 0.0F;
  }
};

float undisturbed() {
  SimCluster sim({{"ps", 2}, {"worker", 3}}, {.longest_kernel = 1ms});
  return sim.start(Fit{.has_nan = false}).finish("/job:worker/task:0").first;
}

}  // namespace

SIMULATION_TEST(nan_gradient_costs_the_steps_since_the_newest_checkpoint, seeds(1, 20)) {
  SimCluster sim({{"ps", 2}, {"worker", 3}}, of_this_seed({.longest_kernel = 1ms}));
  auto run = sim.start(Fit{});
  BOOST_TEST(run.finish("/job:worker/task:0").first == undisturbed());
  BOOST_TEST(run.finish("/job:worker/task:1").second >= 2);  // it has come there again
}

SIMULATION_TEST(nan_gradient_while_tasks_are_lost, seeds(1, 30)) {
  const SimOptions options = of_this_seed({.longest_kernel = 1ms});
  SimCluster sim({{"ps", 2}, {"worker", 3}}, options);
  auto run = sim.start(Fit{});
  sim.apply(random_fault_plan(options.seed, {{"ps", 0}, {"ps", 1}, {"worker", 0}}, {.count = 3, .until = 200ms}));
  BOOST_TEST(run.finish("/job:worker/task:0").first == undisturbed());
}

BOOST_AUTO_TEST_SUITE_END()
