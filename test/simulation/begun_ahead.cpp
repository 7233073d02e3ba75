// Steps that parameter servers begin before they are asked for: what that saves, and that nothing of
// them is lost while a client does something else.
#include <boost/test/unit_test.hpp>

#include "actors/client/session.h"
#include "actors/probes/point.h"
#include "actors/runtime/clock.h"
#include "actors/runtime/runtime.h"
#include "actors/simulation/sim_cluster.h"
#include "actors/simulation/simulation_test.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/train/replicate.h"
#include "kernels/ops.h"

BOOST_AUTO_TEST_SUITE(begun_ahead)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

constexpr int workers = 2;

// One of two replicas of loss = mean((w - x)^2) + mean((v - x)^2).
struct Program {
  Graph g;
  Variable step, w, v;
  Output x;
  TrainOp train;

  Program(int index, const Strategy& strategy) {
    g.on(replica_device_setter(2, "ps", "/job:worker/task:" + std::to_string(index)), [&] {
      step = global_step(g);
      w = g.variable("w", g.constant(Tensor::of<float>({1}, {1.0F})));
      v = g.variable("v", g.constant(Tensor::of<float>({1}, {1.0F})));
      x = g.placeholder(DType::float32, {1}, "x");
      train = minimize(g, mean(square(w.value() - x)) + mean(square(v.value() - x)), {w, v}, step,
                       Sgd{0.25}, {.replica = index, .replicas = workers, .strategy = strategy});
    });
  }
};

// Trains for 20 steps, `pause` before the last of them; returns how long each of the 5 steps before
// took.
std::chrono::nanoseconds train(SimTask& task, const Strategy& strategy, std::chrono::nanoseconds pause) {
  Server& server = task.server();
  if (server.name().job == "ps") return server.join(), 0ns;
  Program program(server.name().index, strategy);
  Session session(server.target(), program.g);
  if (server.name().index == 0) session.initialize_variables();
  task.sleep(1s);
  if (program.train.local_init) session.run(std::vector<Output>{}, {}, {program.train.local_init});
  const auto steps = [&](int from, int to) {
    for (int step = from; step < to; ++step)
      session.run(program.train.step, {{program.x, Tensor::of<float>({1}, {static_cast<float>(step)})}});
  };
  Clock& clock = server.runtime()->clock();
  steps(0, 14);
  const auto begin = clock.now();
  steps(14, 19);
  const auto took = (clock.now() - begin) / 5;
  task.sleep(pause);
  steps(19, 20);
  task.sleep(1s);
  if (server.name().index == 0) server.shutdown_cluster("done");
  return took;
}

// On a network that takes 1 ms one way.
std::chrono::nanoseconds step_time(const Strategy& strategy, std::chrono::nanoseconds pause = 0ns) {
  SimOptions options;
  options.links = {.latency = 1ms, .jitter = 0, .bytes_per_second = 1e12};
  SimCluster sim({{"ps", 2}, {"worker", workers}}, options);
  auto run = sim.start([=](SimTask& task) { return train(task, strategy, pause); });
  return run.finish("/job:worker/task:0");
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_asynchronous_step_takes_one_round_trip) {
  BOOST_TEST(step_time(Asynchronous{}).count() < std::chrono::nanoseconds(3500us).count());
}

// One more way: the servers tell that of the global step what they have applied.
BOOST_AUTO_TEST_CASE(a_synchronous_step_takes_one_round_trip_and_what_the_servers_say_to_each_other) {
  BOOST_TEST(step_time(Synchronous{}).count() < std::chrono::nanoseconds(4500us).count());
}

// A bound of staleness demands that parameters are read after the clock has moved.
BOOST_AUTO_TEST_CASE(what_is_not_begun_takes_two) {
  BOOST_TEST(step_time(BoundedStaleness{.bound = 1}).count() > std::chrono::nanoseconds(4ms).count());
}

// Nobody drops tensors that wait for a step that has not come yet.
BOOST_AUTO_TEST_CASE(what_was_begun_waits_for_a_client_that_does_something_else) {
  Point::take_all();
  step_time(Asynchronous{}, 10min);
  step_time(Synchronous{}, 10min);
  BOOST_TEST(Point::take_all().at("a step begun before it was asked for") > 100u);
}

BOOST_AUTO_TEST_SUITE_END()
