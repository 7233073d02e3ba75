// What users write, and what it tells them when it fails.
#include "actors/simulation/simulation_test.h"

#include <cstdlib>

BOOST_AUTO_TEST_SUITE(simulation_test)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

// Fails when worker 1 is paused: its faults are those of the seed, two of which do not matter.
void body() {
  SimCluster sim({{"worker", 2}});
  auto run = sim.start([](SimTask& task) {
    task.sleep(10s);
    return task.life();
  });
  sim.apply({{1s, FaultKind::lossy, {}, {}, 1s},
             {2s, FaultKind::kill, {"worker", 1}, {}, {}},
             {3s, FaultKind::restart, {"worker", 1}, {}, {}},
             {4s, FaultKind::pause, {"worker", 0}, {}, 1s}});
  const int lives = run.finish("/job:worker/task:1");
  if (lives != 1) throw Error(Code::internal, "it has lived before");
}

}  // namespace

SIMULATION_TEST(a_test_runs_for_each_of_its_seeds, seeds(1, 5)) {
  SimCluster sim({{"worker", 1}});
  auto run = sim.start([](SimTask& task) { task.sleep(1s); });
  run.finish();
  BOOST_TEST((sim.statistics().simulated >= 1s));
}

BOOST_AUTO_TEST_CASE(a_failure_is_shrunk_to_the_faults_that_matter) {
  const auto failure = run_seeds({4, 9}, body, {});
  BOOST_REQUIRE(failure);
  BOOST_TEST(failure->seed == 4u);
  // Without the restart the run fails too, in another way: it needs the kill alone.
  BOOST_TEST(to_string(failure->faults) == "2s kill /job:worker/task:1; 3s restart /job:worker/task:1");
  BOOST_TEST(failure->environment ==
             "ACTORFLOW_SEED=4 ACTORFLOW_FAULTS='2s kill /job:worker/task:1; 3s restart /job:worker/task:1'");
}

// Without its pause the body would fail, too, but with another error.
BOOST_AUTO_TEST_CASE(shrinking_keeps_to_the_error_that_was_found) {
  const auto failure =
      run_seeds({1, 1},
                [] {
                  SimCluster sim({{"worker", 2}});
                  auto run = sim.start([](SimTask& task) { task.sleep(10s); });
                  sim.at(8s).pause("/job:worker/task:0", 7s);
                  sim.at(2s).pause("/job:worker/task:1", 1s);
                  run.finish();
                  if (sim.elapsed() < 14s) throw Error(Code::internal, "it was too early");
                  throw Error(Code::internal, "it took " + std::to_string(sim.elapsed().count()));
                },
                {});
  BOOST_REQUIRE(failure);
  BOOST_TEST(to_string(failure->faults) == "8s pause /job:worker/task:0 for 7s");
  BOOST_TEST(failure->error.find("it took") == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_no_standard_exception_fails_the_seed) {
  const auto in_a_task = run_seeds({1, 3},
                                   [] {
                                     SimCluster sim({{"worker", 1}});
                                     auto run = sim.start([](SimTask& task) {
                                       if (task.life() == 1) throw 5;
                                     });
                                     run.finish();
                                   },
                                   {});
  BOOST_REQUIRE(in_a_task);
  BOOST_TEST(in_a_task->error.find("/job:worker/task:0 failed") != std::string::npos);
  const auto outside = run_seeds({2, 3}, [] { throw 5; }, {});
  BOOST_REQUIRE(outside);
  BOOST_TEST(outside->seed == 2u);
}

BOOST_AUTO_TEST_CASE(a_range_without_a_seed_and_negative_times_are_refused) {
  BOOST_CHECK_THROW(run_seeds({5, 1}, [] {}, {}), Error);
  SimCluster sim({{"worker", 1}});
  BOOST_CHECK_THROW(sim.at(-1s).kill("/job:worker/task:0"), Error);
  BOOST_CHECK_THROW(sim.at(1s).pause("/job:worker/task:0", -1s), Error);
}

// The first pause ends at 4 s, the second at 7 s.
BOOST_AUTO_TEST_CASE(a_fault_lasts_until_the_last_that_overlaps_it) {
  SimCluster sim({{"worker", 1}}, {});
  auto run = sim.start([](SimTask& task) { task.sleep(3s); });
  sim.at(1s).pause("/job:worker/task:0", 3s);
  sim.at(2s).pause("/job:worker/task:0", 5s);
  run.finish();
  BOOST_TEST((sim.statistics().simulated >= 7s));
}

BOOST_AUTO_TEST_SUITE_END()
