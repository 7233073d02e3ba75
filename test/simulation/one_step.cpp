// Checkpoints of training whose replicas wait for each other: all variables and slots of one step.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "actors/probes/point.h"
#include "actors/simulation/simulation_test.h"
#include "test/simulation/support/watched_job.h"

BOOST_AUTO_TEST_SUITE(one_step)

using namespace actorflow;
using test::WatchedJob;

namespace {

const std::vector<std::string> disturbances{
    "random_faults=5", "kinds=kill,kill,pause,pause,partition,delay,slow,lossy,late,duplicate",
    "faults_until=1s", "longest_fault=8s"};

}  // namespace

SIMULATION_TEST(with_a_backup_worker_every_checkpoint_is_of_one_step, seeds(1, 50)) {
  static const WatchedJob job("watched_backup", {});
  job.expect_one_step();
}

SIMULATION_TEST(with_a_backup_worker_and_many_servers_every_checkpoint_is_of_one_step, seeds(1, 30)) {
  static const WatchedJob job("watched_backup", {"ps=4"});
  job.expect_one_step();
}

SIMULATION_TEST(with_bounded_staleness_every_checkpoint_is_of_one_step, seeds(1, 50)) {
  static const WatchedJob job("watched_staleness", {});
  job.expect_one_step();
}

SIMULATION_TEST(through_faults_those_with_a_backup_worker_are_what_they_say, seeds(1, 50)) {
  static const WatchedJob job("watched_backup", disturbances);
  BOOST_TEST(job.run().seen() > 0u);
}

SIMULATION_TEST(through_faults_those_with_many_servers_are_what_they_say, seeds(1, 30)) {
  auto disturbed = disturbances;
  disturbed.push_back("ps=4");
  static const WatchedJob job("watched_backup", disturbed);
  BOOST_TEST(job.run().seen() > 0u);
}

SIMULATION_TEST(through_faults_those_with_bounded_staleness_are_what_they_say, seeds(1, 50)) {
  static const WatchedJob job("watched_staleness", disturbances);
  BOOST_TEST(job.run().seen() > 0u);
}

// Or the cases above would say nothing.
BOOST_AUTO_TEST_CASE(steps_are_held_and_holders_are_lost) {
  Point::take_all();
  for (const auto* name : {"watched_backup", "watched_staleness"})
    for (const int killed_ms : {180, 200, 220}) {
      const WatchedJob job(name, {fmt::format("faults=0.{}s kill /job:worker/task:0; 0.5s restart "
                                              "/job:worker/task:0",
                                              killed_ms)});
      BOOST_TEST(!run_seeds({1, 30}, [&job] { job.run(); }, {}));
    }
  const auto hits = Point::take_all();
  for (const auto* point : {"steps held for a checkpoint", "a hold whose holder was lost"})
    BOOST_TEST(hits.at(point) > 0U, point);
}

BOOST_AUTO_TEST_SUITE_END()
