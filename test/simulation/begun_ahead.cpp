// Steps that parameter servers begin before they are asked for: what that saves, and that nothing of
// them is lost while a client does something else.
#include <boost/test/unit_test.hpp>

#include "actors/client/session.h"
#include "actors/probes/point.h"
#include "actors/runtime/clock.h"
#include "actors/runtime/runtime.h"
#include "actors/simulation/sim_cluster.h"
#include "actors/simulation/sim_network.h"
#include "actors/simulation/simulation_test.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/train/replicate.h"
#include "kernels/ops.h"

BOOST_AUTO_TEST_SUITE(begun_ahead)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

constexpr int workers = 2;

// One of two replicas of loss = the sum of mean((v - x)^2), for a variable v on each server.
struct Program {
  Graph g;
  Variable step;
  Output x;
  TrainOp train;

  Program(int index, int servers, const Strategy& strategy) {
    g.on(replica_device_setter(servers, "ps", "/job:worker/task:" + std::to_string(index)), [&] {
      step = global_step(g);
      x = g.placeholder(DType::float32, {1}, "x");
      std::vector<Variable> variables;
      Output loss = g.constant(0.0F);
      for (int i = 0; i < servers; ++i) {
        variables.push_back(
            g.variable("v" + std::to_string(i), g.constant(Tensor::of<float>({1}, {1.0F}))));
        loss = loss + mean(square(variables.back().value() - x));
      }
      train = minimize(g, loss, variables, step, Sgd{0.25},
                       {.replica = index, .replicas = workers, .strategy = strategy});
    });
  }
};

struct Job {
  Strategy strategy;
  std::chrono::nanoseconds pause{0};  // before the last step
  int servers = 2;
};

// Of a step.
struct Measured {
  std::chrono::nanoseconds time{0};
  std::uint64_t deliveries = 0;  // of all tasks
};

// Trains for 20 steps; returns what each of the 5 before the last one has taken.
Measured train(SimTask& task, const Job& job, SimNetwork& network) {
  Server& server = task.server();
  if (server.name().job == "ps") return server.join(), Measured{};
  Program program(server.name().index, job.servers, job.strategy);
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
  const std::uint64_t deliveries = network.deliveries();
  steps(14, 19);
  const Measured took{(clock.now() - begin) / 5, (network.deliveries() - deliveries) / 5};
  task.sleep(job.pause);
  steps(19, 20);
  task.sleep(1s);
  if (server.name().index == 0) server.shutdown_cluster("done");
  return took;
}

// On a network that takes 1 ms one way.
Measured measure(const Job& job) {
  SimOptions options;
  options.links = {.latency = 1ms, .jitter = 0, .bytes_per_second = 1e12, .delivery_cost = 1ns};
  options.longest_kernel = 0ns;
  SimCluster sim({{"ps", job.servers}, {"worker", workers}}, options);
  auto run = sim.start([&](SimTask& task) { return train(task, job, sim.network()); });
  return run.finish("/job:worker/task:0");
}
std::chrono::nanoseconds step_time(const Job& job) { return measure(job).time; }

}  // namespace

BOOST_AUTO_TEST_CASE(an_asynchronous_step_takes_one_round_trip) {
  BOOST_TEST(step_time({Asynchronous{}}).count() < std::chrono::nanoseconds(3500us).count());
}

// One more way: the servers tell that of the global step what they have applied.
BOOST_AUTO_TEST_CASE(a_synchronous_step_takes_one_round_trip_and_what_the_servers_say_to_each_other) {
  BOOST_TEST(step_time({Synchronous{}}).count() < std::chrono::nanoseconds(4500us).count());
}

// With many servers, too: a replica asks for its token without hearing from each of them first.
BOOST_AUTO_TEST_CASE(a_synchronous_step_with_many_servers_takes_no_longer) {
  BOOST_TEST(step_time({Synchronous{}, 0ns, 5}).count() < std::chrono::nanoseconds(3500us).count());
}

// One delivery for each replica, server and direction, and a token. Each server but that of the global
// step tells that one what it has applied.
BOOST_AUTO_TEST_CASE(replica_and_server_tell_each_other_once_a_step) {
  constexpr int servers = 5;
  BOOST_TEST(measure({Synchronous{}, 0ns, servers}).deliveries <=
             workers * (2 * servers + 2) + servers - 1);
}

// A bound of staleness demands that parameters are read after the clock has moved.
BOOST_AUTO_TEST_CASE(what_is_not_begun_takes_two) {
  BOOST_TEST(step_time({BoundedStaleness{.bound = 1}}).count() > std::chrono::nanoseconds(4ms).count());
}

// Nobody drops tensors that wait for a step that has not come yet.
BOOST_AUTO_TEST_CASE(what_was_begun_waits_for_a_client_that_does_something_else) {
  Point::take_all();
  step_time({Asynchronous{}, 10min});
  step_time({Synchronous{}, 10min});
  BOOST_TEST(Point::take_all().at("a step begun before it was asked for") > 100u);
}

BOOST_AUTO_TEST_SUITE_END()
