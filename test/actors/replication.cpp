// Replicated training on several tasks, held against values computed by hand.
#include <boost/test/unit_test.hpp>
#include <limits>
#include <thread>

#include "actors/actorflow.h"
#include "dataflow/ops/training_ops.h"

BOOST_AUTO_TEST_SUITE(replication)

using namespace actorflow;

namespace {

// loss = mean(w x): its gradient is the fed x, for a variable of one element.
struct Replica {
  Graph g;
  Variable step, w;
  Output x, train;

  Replica(int index, const Replication& replication, const Optimizer& optimizer) {
    g.on(replica_device_setter(1, "ps", "/job:worker/task:" + std::to_string(index)), [&] {
      step = global_step(g);
      w = g.variable("w", g.constant(Tensor::of<float>({1}, {1.0F})));
      x = g.placeholder(DType::float32, {1}, "x");
      train = minimize(g, mean(w.value() * x), {w}, step, optimizer, replication);
    });
  }
};

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Tensor fed(float value) { return Tensor::of<float>({1}, {value}); }

struct Cluster {
  LocalCluster tasks;
  std::vector<std::unique_ptr<Replica>> replicas;
  std::vector<std::unique_ptr<Session>> sessions;

  Cluster(int workers, Replication replication, const Optimizer& optimizer)
      : tasks({{"ps", 1}, {"worker", workers}}) {
    for (int i = 0; i < workers; ++i) {
      replication.replica = i;
      replication.replicas = workers;
      replicas.push_back(std::make_unique<Replica>(i, replication, optimizer));
      sessions.push_back(
          std::make_unique<Session>(tasks.server("worker", i).target(), replicas.back()->g));
      sessions.back()->initialize_variables();
    }
  }

  std::int64_t train(int replica, float gradient) {
    auto& r = *replicas[static_cast<std::size_t>(replica)];
    return sessions[static_cast<std::size_t>(replica)]
        ->run(r.train, {{r.x, fed(gradient)}})
        .scalar<std::int64_t>();
  }
  float weight() { return sessions[0]->run(replicas[0]->w).values<float>()[0]; }
  std::int64_t global_step() { return sessions[0]->run(replicas[0]->step).scalar<std::int64_t>(); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(asynchronous_updates_are_applied_as_they_come) {
  Cluster c(2, {}, Sgd{0.5});
  BOOST_TEST(c.train(0, 0.5F) == 1);
  BOOST_TEST(c.weight() == 0.75F);
  BOOST_TEST(c.train(1, 1.0F) == 2);
  BOOST_TEST(c.weight() == 0.25F);
  BOOST_TEST(c.global_step() == 2);
}

BOOST_AUTO_TEST_CASE(synchronous_updates_apply_the_mean_once_per_step) {
  Cluster c(2, {.strategy = Synchronous{}}, Sgd{0.5});
  // Step 1: mean(1, 3) = 2, w = 1 - 0.5 * 2 = 0. Step 2: mean(-2, -2) = -2, w = 1.
  for (const auto& [first, second, weight] :
       {std::tuple{1.0F, 3.0F, 0.0F}, std::tuple{-2.0F, -2.0F, 1.0F}}) {
    std::int64_t other = 0;
    std::jthread worker([&, gradient = second] { other = c.train(1, gradient); });
    const auto mine = c.train(0, first);
    worker.join();
    BOOST_TEST(mine == other);
    BOOST_TEST(mine == c.global_step());
    BOOST_TEST(c.weight() == weight);
  }
  BOOST_TEST(c.global_step() == 2);
}

BOOST_AUTO_TEST_CASE(with_a_backup_worker_the_slowest_gradient_is_dropped_as_stale) {
  Cluster c(3, {.strategy = Synchronous{.replicas_to_aggregate = 2}}, Sgd{0.5});
  std::jthread worker([&] { c.train(1, 3.0F); });
  c.train(0, 1.0F);
  worker.join();
  BOOST_TEST(c.weight() == 0.0F);
  // The third replica comes late with a gradient of step 0: it takes its token and changes nothing.
  BOOST_TEST(c.train(2, 100.0F) == 1);
  BOOST_TEST(c.weight() == 0.0F);
  BOOST_TEST(c.global_step() == 1);
}

// Asynchronous: the step fails, and the next one is as if it had not been.
BOOST_AUTO_TEST_CASE(nan_gradient_is_never_applied_and_named) {
  Cluster c(1, {}, Momentum{0.5, 0.5});
  for (const float bad : {nan, std::numeric_limits<float>::infinity()})
    BOOST_CHECK_EXCEPTION(c.train(0, bad), Error, [](const Error& error) {
      const std::string what = error.what();
      return error.code() == Code::not_finite &&
             what.find("1 of 1 elements of a gradient of variable 'w' are not finite") !=
                 std::string::npos;
    });
  BOOST_TEST(c.weight() == 1.0F);
  BOOST_TEST(c.global_step() == 0);
  BOOST_TEST(c.train(0, 1.0F) == 1);
  BOOST_TEST(c.weight() == 0.5F);
}

BOOST_AUTO_TEST_CASE(nan_gradient_is_skipped_where_that_is_wanted) {
  Cluster c(1, {.not_finite = NotFinite::skip}, Momentum{0.5, 0.5});
  BOOST_TEST(c.train(0, nan) == 1);
  BOOST_TEST(c.weight() == 1.0F);
  BOOST_TEST(c.train(0, 1.0F) == 2);
  BOOST_TEST(c.weight() == 0.5F);
}

// Synchronous: a replica that fails has contributed nothing, and may make its contribution anew.
BOOST_AUTO_TEST_CASE(nan_gradient_fails_the_synchronous_step_of_its_replica) {
  Cluster c(2, {.strategy = Synchronous{}}, Sgd{0.5});
  std::jthread other([&] { c.train(1, 3.0F); });
  BOOST_CHECK_THROW(c.train(0, nan), Error);
  c.train(0, 1.0F);
  other.join();
  BOOST_TEST(c.weight() == 0.0F);
  BOOST_TEST(c.global_step() == 1);
}

BOOST_AUTO_TEST_CASE(nan_gradient_is_left_out_of_the_mean_of_a_synchronous_step) {
  Cluster c(2, {.strategy = Synchronous{}, .not_finite = NotFinite::skip}, Sgd{0.5});
  for (const auto& [first, second, weight] :
       {std::tuple{nan, 3.0F, -0.5F}, std::tuple{nan, nan, -0.5F}, std::tuple{-1.0F, -2.0F, 0.25F}}) {
    std::jthread other([&, gradient = second] { c.train(1, gradient); });
    c.train(0, first);
    other.join();
    BOOST_TEST(c.weight() == weight);
  }
  BOOST_TEST(c.global_step() == 3);
}

BOOST_AUTO_TEST_CASE(a_barrier_that_can_never_open_is_refused) {
  const Replication replication{.strategy = Synchronous{.replicas_to_aggregate = 2}};
  BOOST_CHECK_EXCEPTION(Replica(0, replication, Sgd{0.5}), Error, [](const Error& error) {
    return std::string(error.what()).find("initial_tokens") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(staleness_counts_the_steps_between_read_and_update) {
  LocalCluster tasks({{"ps", 1}, {"worker", 1}});
  Graph g;
  Variable step;
  Output local, count, seen;
  g.on("/job:ps/task:0", [&] {
    step = global_step(g);
    local = g.placeholder(DType::int64, {}, "local_step");
    count = g.add(count_step_op(), {local, g.constant(std::int64_t{-1})},
                  {{"variable", step.name()}, {"replica", std::int64_t{0}}, {"train_op", "train"}});
    seen = g.add(staleness_op(), {}, {{"variable", step.name()}});
  });
  Session s(tasks.server("worker", 0).target(), g);
  s.initialize_variables();
  for (std::int64_t read_at : {0, 0, 0, 3})  // 0, 1, 2 and 0 steps behind
    s.run(count, {{local, Tensor::scalar(read_at)}});
  const Tensor staleness = s.run(seen);
  BOOST_TEST(staleness.values<double>()[0] == 4);
  BOOST_TEST(staleness.values<double>()[1] == 0.75);
  BOOST_TEST(staleness.values<double>()[2] == 2);
}

BOOST_AUTO_TEST_CASE(momentum_keeps_its_slot_between_steps) {
  Cluster c(1, {}, Momentum{0.5, 0.5});
  c.train(0, 1.0F);  // a = 1, w = 0.5
  c.train(0, 1.0F);  // a = 1.5, w = -0.25
  BOOST_TEST(c.weight() == -0.25F);
}

BOOST_AUTO_TEST_SUITE_END()
