// Parts of a training step that begin before a client asks for the step: what a step computes with is
// what it would read if nothing had been begun.
#include <boost/test/unit_test.hpp>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "actors/actorflow.h"
#include "actors/probes/point.h"
#include "actors/runtime/threaded_runtime.h"
#include "dataflow/train/replica_device_setter.h"
#include "test/actors/support/foreign_task.h"
#include "test/support/ports.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(begun_ahead)

using namespace actorflow;
using test::comes_to_hold;
using test::status_of;

namespace {

// loss = mean((w - x)^2) + mean((v - x)^2), w and v on two parameter servers: with a rate of 0.25 a step
// brings both half of the way to x. So an old value of either shows in the next one.
struct Program {
  Graph g;
  Variable step, w, v;
  Output x, reset;
  TrainOp train;
  EpochFence fence;

  Program(int index, Replication replication)
      : fence((build(index, std::move(replication)), EpochFence(g, tasks, step.device()))) {}

 private:
  inline static const std::vector<std::string> tasks{"/job:ps/task:0", "/job:ps/task:1"};

  void build(int index, Replication replication) {
    replication.replica = index;
    g.on(replica_device_setter(2, "ps", "/job:worker/task:" + std::to_string(index)), [&] {
      const Output one = g.constant(Tensor::of<float>({1}, {1.0F}));
      step = global_step(g);
      w = g.variable("w", one);
      v = g.variable("v", one);
      x = g.placeholder(DType::float32, {1}, "x");
      const Output loss = mean(square(w.value() - x)) + mean(square(v.value() - x));
      train = minimize(g, loss, {w, v}, step, Sgd{0.25}, replication);
      reset = g.group({g.assign(w, one), g.assign(v, one)});
    });
  }
};

// Tasks that reach each other through their ports, as those of several processes do.
class Tasks {
 public:
  explicit Tasks(int workers) {
    const std::vector<std::string> ps{test::free_address(), test::free_address()};
    std::vector<std::string> of_workers;
    for (int i = 0; i < workers; ++i) of_workers.push_back(test::free_address());
    const ClusterSpec cluster{{"ps", ps}, {"worker", of_workers}};
    const auto runtime = std::make_shared<ThreadedRuntime>();
    for (const TaskName& task : cluster.all_tasks()) {
      ServerOptions options;
      options.cluster = cluster;
      options.job = task.job;
      options.task = task.index;
      options.runtime = runtime;
      servers_.emplace(task, std::make_unique<Server>(std::move(options)));
    }
  }
  Server& server(const std::string& job, int task) { return *servers_.at({job, task}); }

 private:
  std::map<TaskName, std::unique_ptr<Server>> servers_;
};

struct Cluster {
  Tasks tasks;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<std::unique_ptr<Session>> sessions;

  explicit Cluster(int workers, Replication replication = {}) : tasks(workers) {
    replication.replicas = workers;
    for (int i = 0; i < workers; ++i) {
      programs.push_back(std::make_unique<Program>(i, replication));
      sessions.push_back(std::make_unique<Session>(tasks.server("worker", i).target(), program(i).g));
      session(i).initialize_variables();
      if (program(i).train.local_init)
        session(i).run(std::vector<Output>{}, {}, {program(i).train.local_init});
    }
    Point::take_all();
  }

  Program& program(int i) { return *programs[static_cast<std::size_t>(i)]; }
  Session& session(int i) { return *sessions[static_cast<std::size_t>(i)]; }
  void train(int i, float x) {
    session(i).run(program(i).train.step, {{program(i).x, Tensor::of<float>({1}, {x})}});
  }
  std::vector<float> weights() {
    const auto values = session(0).run({program(0).w, program(0).v});
    return {values[0].values<float>()[0], values[1].values<float>()[0]};
  }
};

std::uint64_t begun() { return Point::take_all().at("a step begun before it was asked for"); }

using Weights = std::vector<float>;

}  // namespace

BOOST_AUTO_TEST_CASE(a_step_that_is_repeated_is_begun_before_it_is_asked_for) {
  Cluster c(1);
  for (const float x : {3.0F, 4.0F, 1.0F, 6.0F, 0.0F, 2.0F}) c.train(0, x);
  // 1, 2, 3, 2, 4, 2, 2
  BOOST_TEST(c.weights() == Weights({2, 2}));
  BOOST_TEST(begun() >= 6u);  // on two tasks, from the third step on, the last perhaps not yet
}

BOOST_AUTO_TEST_CASE(what_the_client_changes_between_two_steps_is_seen_by_the_next) {
  Cluster c(1);
  for (int round = 0; round < 3; ++round) {
    for (const float x : {3.0F, 4.0F, 1.0F}) c.train(0, x);
    BOOST_TEST(c.weights() == Weights({2, 2}));
    c.session(0).run(std::vector<Output>{}, {}, {c.program(0).reset});
    c.train(0, 5.0F);
    BOOST_TEST(c.weights() == Weights({3, 3}));
    c.session(0).run(std::vector<Output>{}, {}, {c.program(0).reset});
  }
  BOOST_TEST(begun() > 0u);
}

BOOST_AUTO_TEST_CASE(what_another_session_of_the_task_changes_is_seen_too) {
  Cluster c(1);
  Session other(c.tasks.server("worker", 0).target(), c.program(0).g);
  for (const float x : {3.0F, 4.0F, 1.0F}) c.train(0, x);
  other.run(std::vector<Output>{}, {}, {c.program(0).reset});
  c.train(0, 5.0F);
  BOOST_TEST(c.weights() == Weights({3, 3}));
}

// Reads between the steps end nothing that was begun.
BOOST_AUTO_TEST_CASE(each_synchronous_step_computes_with_the_values_after_the_one_before) {
  Cluster c(2, {.strategy = Synchronous{}});
  float weight = 1;
  for (int step = 0; step < 20; ++step) {
    const auto x = static_cast<float>(step % 5);
    std::jthread other([&] { c.train(1, x + 2); });
    c.train(0, x);
    other.join();
    weight = (weight + x + 1) / 2;
    BOOST_TEST(c.weights() == Weights({weight, weight}));
  }
  BOOST_TEST(begun() >= 2u * 2u * 17u);
}

BOOST_AUTO_TEST_CASE(a_step_of_an_older_epoch_is_fenced_though_it_has_been_begun) {
  Cluster c(2);
  for (const float x : {3.0F, 4.0F, 1.0F}) c.train(0, x);
  c.program(1).fence.raise(c.session(1));
  c.session(1).run(std::vector<Output>{}, {}, {c.program(1).reset});
  const Status status = status_of([&] { c.train(0, 5.0F); });
  BOOST_TEST((status.code == Code::aborted), status.to_string());
  BOOST_TEST(c.weights() == Weights({1, 1}));
  c.program(0).fence.join(c.session(0));
  c.train(0, 5.0F);
  BOOST_TEST(c.weights() == Weights({3, 3}));
}

BOOST_AUTO_TEST_CASE(a_step_that_fails_leaves_nothing_begun_to_the_next) {
  Cluster c(1);
  for (const float x : {3.0F, 4.0F, 1.0F}) c.train(0, x);
  BOOST_CHECK_THROW(c.train(0, std::numeric_limits<float>::quiet_NaN()), Error);
  c.train(0, 4.0F);
  BOOST_TEST(c.weights() == Weights({3, 3}));
  for (const float x : {1.0F, 6.0F}) c.train(0, x);
  BOOST_TEST(c.weights() == Weights({4, 4}));
}

BOOST_AUTO_TEST_CASE(a_session_that_is_closed_leaves_nothing_begun) {
  Cluster c(1);
  for (const float x : {3.0F, 4.0F, 1.0F}) c.train(0, x);
  c.sessions.clear();
  for (const auto& [job, task] : {std::pair{"ps", 0}, std::pair{"ps", 1}, std::pair{"worker", 0}})
    BOOST_TEST(comes_to_hold(c.tasks.server(job, task), HeldState{}), job << task);
}

BOOST_AUTO_TEST_CASE(threads_that_train_at_once_begin_nothing_that_another_may_change) {
  Cluster c(1);
  const auto train = [&c] {
    for (int i = 0; i < 50; ++i) c.train(0, 1.0F);
  };
  { const std::jthread first(train), second(train); }
  BOOST_TEST(c.weights() == Weights({1, 1}));
  BOOST_TEST(c.session(0).run(c.program(0).step).scalar<std::int64_t>() == 100);
}

// A read before the clock has moved would break the bound.
BOOST_AUTO_TEST_CASE(nothing_is_begun_with_a_bound_of_staleness) {
  Cluster c(1, {.strategy = BoundedStaleness{.bound = 1}});
  for (int i = 0; i < 5; ++i) c.train(0, 3.0F);
  BOOST_TEST(begun() == 0u);
}

// A replica that contributes to a step twice does so before the step's end.
BOOST_AUTO_TEST_CASE(nothing_is_begun_where_a_replica_contributes_twice) {
  Cluster c(1, {.strategy = Synchronous{.replicas_to_aggregate = 2, .initial_tokens = 2}});
  for (int i = 0; i < 6; ++i) c.train(0, 3.0F);
  BOOST_TEST(begun() == 0u);
}

// There it costs more than it saves.
BOOST_AUTO_TEST_CASE(nothing_is_begun_within_a_process) {
  LocalCluster tasks({{"ps", 2}, {"worker", 1}});
  Program program(0, {});
  Session session(tasks.server("worker", 0).target(), program.g);
  session.initialize_variables();
  Point::take_all();
  for (int i = 0; i < 6; ++i)
    session.run(program.train.step, {{program.x, Tensor::of<float>({1}, {3.0F})}});
  BOOST_TEST(begun() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
