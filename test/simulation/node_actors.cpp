// Training whose nodes are actors, so that the schedule orders every node of a step: the weights are
// those of lanes, whatever comes first and whoever dies.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/simulation/simulation_test.h"
#include "test/support/small_training.h"

BOOST_AUTO_TEST_SUITE(node_actors)

using namespace actorflow;
using test::SmallJob;
using namespace std::chrono_literals;

namespace {

// A training, and the task that is killed while it runs.
struct Case {
  SmallJob job;
  int replicas = 3;
  std::string lost = "/job:ps/task:0";
};

const Case synchronous{.job = {.strategy = Synchronous{}, .steps = 40, .folder = "checkpoints"}};
const Case sparse{
    .job = {.strategy = Synchronous{}, .has_table = true, .steps = 40, .folder = "checkpoints"}};
// One replica, so that gradients come in the same order.
const Case asynchronous{.job = {.has_table = true, .steps = 40, .folder = "checkpoints"}, .replicas = 1};
const Case all_reduced{
    .job = {.strategy = AllReduce{}, .has_table = true, .steps = 40, .folder = "checkpoints"},
    .lost = "/job:worker/task:1"};

std::vector<SimCluster::Job> tasks_of(const Case& it) {
  return test::small_tasks<SimCluster>(it.job, it.replicas);
}

std::vector<Tensor> undisturbed_lanes(const Case& it) {
  SimCluster sim(tasks_of(it), {.seed = 1});
  auto run = sim.start([&it](SimTask& task) { return test::train_small(task.server(), it.job); });
  return run.finish("/job:worker/task:0");
}

void expect_the_weights_of_lanes(const Case& it, const std::vector<Tensor>& expected,
                                 const SimOptions& options) {
  SmallJob job = it.job;
  job.executor = Executor::node_actors;
  SimCluster sim(tasks_of(it), options);
  auto run = sim.start([&job](SimTask& task) { return test::train_small(task.server(), job); });
  sim.at(30ms).kill(it.lost);
  sim.at(2s).restart(it.lost);
  const auto learned = run.finish("/job:worker/task:0");
  BOOST_TEST_REQUIRE(learned.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST(identical(learned[i], expected[i]), "weights " << i);
  BOOST_TEST((sim.statistics().simulated > 2s));  // it was needed
}

SimOptions any_order() { return of_this_seed({.longest_kernel = 200us}); }

}  // namespace

SIMULATION_TEST(a_killed_ps_and_any_order_of_nodes_change_no_bit, seeds(1, 20)) {
  static const auto expected = undisturbed_lanes(synchronous);
  expect_the_weights_of_lanes(synchronous, expected, any_order());
}

SIMULATION_TEST(neither_do_priorities_that_starve_some_nodes, seeds(1, 10)) {
  static const auto expected = undisturbed_lanes(synchronous);
  SimOptions options = of_this_seed({});
  options.schedule = [seed = options.seed] { return std::make_unique<PctSchedule>(seed, 5, 20'000); };
  expect_the_weights_of_lanes(synchronous, expected, options);
}

SIMULATION_TEST(a_table_in_parts_has_the_rows_of_lanes, seeds(1, 20)) {
  static const auto expected = undisturbed_lanes(sparse);
  expect_the_weights_of_lanes(sparse, expected, any_order());
}

SIMULATION_TEST(one_asynchronous_replica_learns_what_it_learns_by_lanes, seeds(1, 20)) {
  static const auto expected = undisturbed_lanes(asynchronous);
  expect_the_weights_of_lanes(asynchronous, expected, any_order());
}

SIMULATION_TEST(all_reduced_gradients_and_a_killed_rank_change_no_bit, seeds(1, 20)) {
  static const auto expected = undisturbed_lanes(all_reduced);
  expect_the_weights_of_lanes(all_reduced, expected, any_order());
}

BOOST_AUTO_TEST_SUITE_END()
