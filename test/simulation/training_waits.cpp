// Replicas and queues that wait say for whom: within 2 s of simulated time, and then rarely.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>

#include "actors/actorflow.h"
#include "actors/simulation/simulation_test.h"
#include "dataflow/ops/queue_ops.h"

BOOST_AUTO_TEST_SUITE(training_waits)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

void wait_for_the_end(Server& server) { server.join(); }

// w -= x of one element for each step. Worker 1 takes part and makes none.
void train(SimTask& task, const Strategy& strategy) {
  Server& server = task.server();
  if (server.name().job == "ps") return wait_for_the_end(server);
  const int replica = server.name().index;
  Graph g;
  TrainOp train;
  g.on(replica_device_setter(1, "ps", server.name().to_string()), [&] {
    const Variable step = global_step(g), w = g.variable("w", g.constant(Tensor::of<float>({1}, {0})));
    train = minimize(g, mean(w.value()), {w}, step, Sgd{1.0},
                     {.replica = replica, .replicas = 2, .strategy = strategy});
  });
  Session session(server.target(), g);
  if (replica == 0)
    session.initialize_variables();
  else
    task.sleep(100ms);
  session.run({}, {}, {train.local_init});
  if (replica == 1) wait_for_the_end(server);
  while (true) session.run(train);
}

void train_synchronously(SimTask& task) { train(task, Synchronous{}); }
void train_with_bounded_staleness(SimTask& task) { train(task, BoundedStaleness{2}); }

void take_from_an_empty_queue(SimTask& task) {
  Server& server = task.server();
  if (server.name() != TaskName{"worker", 0}) return wait_for_the_end(server);
  Graph g;
  Output taken;
  g.on("/job:ps/task:0", [&] {
    const Queue queue(g, QueueKind::fifo,
                      {.name = "numbers", .components = {{DType::int64, {}}}, .capacity = 8});
    taken = queue.dequeue()[0];
  });
  Session(server.target(), g).run(taken);
}

// What is said until then; nothing but waiting happens.
std::string said_in(std::chrono::seconds time, void (*program)(SimTask&)) {
  SimOptions options = of_this_seed({});
  options.time_limit = time;
  SimCluster sim({{"ps", 1}, {"worker", 2}}, options);
  try {
    sim.start(program).finish();
  } catch (const Error& error) {
    return error.what();
  }
  return "it has ended";
}

int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The beginning takes less than a second.
void expect_said(void (*program)(SimTask&), const std::string& what) {
  const std::string soon = said_in(3s, program), later = said_in(30s, program);
  BOOST_TEST(times(soon, what) == 1, what << ", but: " << soon);
  BOOST_TEST(times(later, what) == 3, what << ", but: " << later);
}

}  // namespace

SIMULATION_TEST(a_replica_that_waits_for_its_token_names_the_missing_one, seeds(1, 20)) {
  expect_said(train_synchronously, "a replica waits for the next 'global_step', for replica 1");
}

SIMULATION_TEST(a_variable_that_waits_for_gradients_names_the_missing_replica, seeds(1, 20)) {
  expect_said(train_synchronously, "has 1 of 2 gradients for the step after 0; waiting for replicas 1");
}

SIMULATION_TEST(a_replica_that_is_too_far_ahead_names_the_slow_one, seeds(1, 20)) {
  expect_said(train_with_bounded_staleness, "replicas 0 wait for replicas 1, which are 3 steps behind");
}

SIMULATION_TEST(a_queue_that_is_waited_at_says_what_it_has, seeds(1, 20)) {
  expect_said(take_from_an_empty_queue, "has 0 elements; 1 dequeues wait for elements");
}

BOOST_AUTO_TEST_SUITE_END()
