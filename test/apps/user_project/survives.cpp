#define BOOST_TEST_MODULE survives
#include "actors/simulation/simulation_test.h"

using namespace actorflow;
using namespace std::chrono_literals;

SIMULATION_TEST(a_restarted_worker_lives_again, seeds(1, 5)) {
  SimCluster sim({{"worker", 2}});
  auto run = sim.start([](SimTask& task) {
    task.sleep(10s);
    return task.life();
  });
  sim.at(3s).kill("/job:worker/task:1");
  sim.at(4s).restart("/job:worker/task:1");
  BOOST_TEST(run.finish("/job:worker/task:1") == 2);
}

// Nothing but the library has to be linked for that.
BOOST_AUTO_TEST_CASE(a_look_at_the_real_clock_is_noticed) {
  SimCluster sim({{"worker", 1}}, {});
  auto run = sim.start([](SimTask&) { std::ignore = std::chrono::system_clock::now(); });
  BOOST_CHECK_EXCEPTION(run.finish(), Error, [](const Error& error) {
    return std::string(error.what()).find("clock_gettime is called by") != std::string::npos;
  });
}
