// Training whose nodes are actors: under each strategy, and with a table whose gradients are rows, the
// weights have the bits that lanes give.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/probes/handler_probe.h"
#include "test/support/small_training.h"

BOOST_AUTO_TEST_SUITE(node_actor_training)

using namespace actorflow;
using test::SmallJob;

namespace {

// Counts the steps of nodes that are actors.
class NodeActorSteps final : public HandlerProbe {
 public:
  NodeActorSteps() { handler_probe = this; }
  ~NodeActorSteps() override { handler_probe = nullptr; }

  void made(const HandlerName&) override {}
  void before(const HandlerName& handler) override { count_ += handler.actor == "node-actor"; }
  void after(const HandlerName&) override {}
  int count() const { return count_; }

 private:
  std::atomic<int> count_{0};
};

std::vector<Tensor> train(int replicas, const SmallJob& job) {
  LocalCluster cluster(test::small_tasks<LocalCluster>(job, replicas));
  std::vector<Tensor> learned;
  run_on_threads(cluster, replicas, [&](int task) {
    auto own = test::train_small(cluster.server("worker", task), job);
    if (task == 0) learned = std::move(own);
  });
  return learned;
}

void expect_the_bits_of_lanes(int replicas, SmallJob job) {
  const auto lanes = train(replicas, job);
  job.executor = Executor::node_actors;
  const NodeActorSteps steps;
  const auto actors = train(replicas, job);
  BOOST_TEST(steps.count() > 0);
  BOOST_TEST_REQUIRE(!lanes.empty());
  BOOST_TEST_REQUIRE(actors.size() == lanes.size());
  for (std::size_t i = 0; i < lanes.size(); ++i)
    BOOST_TEST(identical(actors[i], lanes[i]), "weights " << i);
}

}  // namespace

// One replica, so that gradients come in the same order.
BOOST_AUTO_TEST_CASE(asynchronous_training_on_two_parameter_servers) {
  for (const char* optimizer : {"sgd", "momentum", "adam", "ftrl"})
    expect_the_bits_of_lanes(1, {.optimizer = make_optimizer(optimizer, 0.05)});
}

BOOST_AUTO_TEST_CASE(one_replica_with_bounded_staleness) {
  expect_the_bits_of_lanes(1, {.strategy = BoundedStaleness{2}, .has_table = true});
}

BOOST_AUTO_TEST_CASE(synchronous_training_on_two_parameter_servers) {
  expect_the_bits_of_lanes(2, {.strategy = Synchronous{}});
}

BOOST_AUTO_TEST_CASE(a_table_in_parts_whose_rows_are_updated_asynchronously) {
  for (const char* optimizer : {"sgd", "momentum", "adam", "ftrl"})
    expect_the_bits_of_lanes(1, {.has_table = true, .optimizer = make_optimizer(optimizer, 0.05)});
}

BOOST_AUTO_TEST_CASE(a_table_in_parts_whose_rows_are_updated_synchronously) {
  expect_the_bits_of_lanes(3, {.strategy = Synchronous{}, .has_table = true});
}

BOOST_AUTO_TEST_CASE(all_reduced_gradients_of_a_table_and_of_dense_variables) {
  for (const bool has_table : {false, true})
    for (const AllReduce& how :
         {AllReduce{}, AllReduce{.first_bucket_bytes = 1, .bucket_bytes = 1},
          AllReduce{.sharded_optimizer = true}, AllReduce{.compression = ReduceCompression::bfloat16}})
      expect_the_bits_of_lanes(3, {.strategy = how, .has_table = has_table});
}

BOOST_AUTO_TEST_CASE(rounds_of_local_steps) {
  expect_the_bits_of_lanes(2, {.strategy = AllReduce{.local_steps = 3}});
}

BOOST_AUTO_TEST_SUITE_END()
