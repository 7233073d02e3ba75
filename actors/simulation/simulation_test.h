// Simulation tests with Boost.Test:
//
//   SIMULATION_TEST(a_lost_ps_changes_nothing, seeds(1, 100)) {
//     SimCluster sim({{"ps", 1}, {"worker", 4}});
//     auto run = sim.start(train);
//     sim.at(30s).kill("/job:ps/task:0");
//     sim.at(31s).restart("/job:ps/task:0");
//     BOOST_TEST(run.finish("/job:worker/task:0") == reference);
//   }
//
// The body runs once per seed. A failure prints the seed, the faults that cause it and the command that
// replays it. Environment variables: ACTORFLOW_SEED=n runs one seed, ACTORFLOW_SEEDS=n that many,
// ACTORFLOW_FAULTS='...' only these faults, ACTORFLOW_TWICE=1 each seed twice, which must be the same
// run.
#pragma once

#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string>

#include "actors/simulation/seeds.h"

namespace actorflow {

// Runs the body for each seed; a failed check fails the seed.
inline void run_simulation_test(SeedRange range, void (*body)()) {
  const auto& test = boost::unit_test::framework::current_test_case();
  const auto failed_checks = [&test] {
    return boost::unit_test::results_collector.results(test.p_id).p_assertions_failed.get();
  };
  const auto checked = [&] {
    const auto before = failed_checks();
    body();
    if (failed_checks() != before) throw std::runtime_error("a check failed, see above");
  };
  const std::string trace = test.p_name.get() + ".trace.json";
  const auto& program = boost::unit_test::framework::master_test_suite();
  const std::string command =
      std::string(program.argc > 0 ? program.argv[0] : "PROGRAM") + " --run_test=" + test.full_name();
  if (const auto failure = run_seeds(range, checked, trace))
    BOOST_ERROR(failure->to_string(command) + "\n" + failure->trace);
}

}  // namespace actorflow

#define SIMULATION_TEST(name, range)                                                    \
  static void name##_in_simulation();                                                   \
  BOOST_AUTO_TEST_CASE(name) { actorflow::run_simulation_test(range, name##_in_simulation); } \
  static void name##_in_simulation()
