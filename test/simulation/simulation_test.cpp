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

BOOST_AUTO_TEST_SUITE_END()
