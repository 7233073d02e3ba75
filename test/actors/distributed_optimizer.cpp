// Graphs of a program's own that train by all-reduce, held against values computed by hand.
#include "actors/strategies/distributed_optimizer.h"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "actors/actorflow.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(distributed_optimizer)

using namespace actorflow;
using test::says;

namespace {

// Of a rank, in order; looked at when the ranks' threads have ended, since Boost.Test is for one thread.
using Values = std::vector<float>;

// loss = mean(a x): the gradient is the fed x, of one element. Each rank begins with another value.
struct Rank {
  Graph g;
  DistributedOptimizer optimizer;
  Variable step, a;
  Output x;
  DistributedTrainOp train;
  std::unique_ptr<MonitoredSession> session;

  Rank(Server& server, const Optimizer& rule, const DistributedOptions& options)
      : optimizer(server, rule, options) {
    g.on(optimizer.device(), [&] {
      step = global_step(g);
      a = g.variable("a", g.constant(Tensor{10.0F + static_cast<float>(optimizer.rank())}));
      x = g.placeholder(DType::float32, {1}, "x");
      train = optimizer.minimize(g, mean(a.value() * x), {a}, step);
    });
    session = std::make_unique<MonitoredSession>(server, g, optimizer.monitored(train));
  }

  std::int64_t run(float gradient) {
    return session->run(train.step, {{x, Tensor{gradient}}})[0].scalar<std::int64_t>();
  }
  void accumulate(float gradient) {
    session->session().run({}, {{x, Tensor{gradient}}}, {train.accumulate});
  }
  float value() { return session->session().run(a).values<float>()[0]; }
};

}  // namespace

BOOST_AUTO_TEST_CASE(ranks_begin_with_the_values_of_the_first_and_apply_the_mean) {
  LocalCluster cluster({{"worker", 3}});
  std::int64_t steps[3] = {};
  Values values[3];
  run_on_threads(cluster, 3, [&](int task) {
    Rank rank(cluster.server("worker", task), Sgd{0.5}, {});
    values[task].push_back(rank.value());
    steps[task] = rank.run(static_cast<float>(task));
    values[task].push_back(rank.value());  // the mean is 1
    rank.run(4);
    values[task].push_back(rank.value());
  });
  for (int task = 0; task < 3; ++task) {
    BOOST_TEST(steps[task] == 1);
    BOOST_TEST((values[task] == Values{10, 9.5F, 7.5F}));
  }
}

BOOST_AUTO_TEST_CASE(the_mean_over_ranks_is_clipped) {
  for (const bool sharded : {false, true}) {
    LocalCluster cluster({{"worker", 2}});
    float values[2] = {};
    run_on_threads(cluster, 2, [&](int task) {
      Rank rank(cluster.server("worker", task), Sgd{1},
                {.transform = [](auto gradients) { return clip_by_value(gradients, -0.5, 0.5); },
                 .buckets = {.sharded_optimizer = sharded}});
      rank.run(task == 0 ? -1 : 3);  // half of -0.5 + 0.5, if each clipped its own
      values[task] = rank.value();
    });
    BOOST_TEST(values[0] == 9.5F);
    BOOST_TEST(values[1] == 9.5F);
  }
}

BOOST_AUTO_TEST_CASE(passes_are_added_up_before_ranks_average_them) {
  LocalCluster cluster({{"worker", 2}});
  Values values[2];
  run_on_threads(cluster, 2, [&](int task) {
    Rank rank(cluster.server("worker", task), Sgd{0.5}, {.backward_passes_per_step = 3});
    for (int pass = 0; pass < 2; ++pass) {
      values[task].push_back(rank.value());
      rank.accumulate(1);
      rank.accumulate(2);
      values[task].push_back(rank.value());
      rank.run(static_cast<float>(task == 0 ? 6 : 8));  // sums of 9 and 11
    }
  });
  for (const Values& of_rank : values) BOOST_TEST((of_rank == Values{10, 10, 5, 5}));
}

BOOST_AUTO_TEST_CASE(the_rate_grows_from_its_nth_part_to_all_of_it) {
  LocalCluster cluster({{"worker", 4}});
  const DistributedOptimizer optimizer(cluster.server("worker", 1), Sgd{});
  Graph g;
  const Output step = g.placeholder(DType::int64, {});
  const Output rate = optimizer.warm_up(0.8, step, 10);
  Session session(cluster.server("worker", 1).target(), g);
  const auto at = [&](std::int64_t number) {
    return session.run(rate, {{step, Tensor::scalar(number)}}).scalar<double>();
  };
  BOOST_TEST(at(0) == 0.2);
  BOOST_TEST(at(25) == 0.5, boost::test_tools::tolerance(1e-12));
  for (const std::int64_t late : {50, 1000}) BOOST_TEST(at(late) == 0.8);
}

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_refused) {
  LocalCluster cluster({{"worker", 2}});
  Server& server = cluster.server("worker", 1);
  BOOST_CHECK_EXCEPTION(DistributedOptimizer(server, Sgd{}, {.tasks = {"/job:worker/task:0"}}), Error,
                        says("/job:worker/task:1 is not among the ranks: /job:worker/task:0"));
  BOOST_CHECK_EXCEPTION(DistributedOptimizer(server, Sgd{}, {.backward_passes_per_step = 0}), Error,
                        says("expected 1 or more backward passes per step, got 0"));
}

BOOST_AUTO_TEST_SUITE_END()
