// Seeds that run in processes of their own.
#include "apps/scenario/seed_runs.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <string>

BOOST_AUTO_TEST_SUITE(seed_runs)

using namespace actorflow;

namespace {

SeedSummary run(const std::function<SimStatistics()>& body) {
  return run_seeds_in_processes({1, 4}, 2, body, {}, [](const SeedSummary&) {});
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_all_processes_have_found_is_added_up) {
  const SeedSummary sum = run([] {
    SimStatistics statistics;
    statistics.messages = 10;
    return statistics;
  });
  BOOST_TEST(sum.failures.empty());
  BOOST_TEST(sum.seeds == 4u);
  BOOST_TEST(sum.messages == 40u);
}

BOOST_AUTO_TEST_CASE(a_process_that_crashes_is_a_failure) {
  const SeedSummary sum = run([]() -> SimStatistics {
    raise(SIGKILL);
    return {};
  });
  BOOST_REQUIRE(!sum.failures.empty());
  BOOST_TEST(sum.failures[0] == "a process of the simulation was ended by signal 9");
}

BOOST_AUTO_TEST_CASE(a_process_that_ends_before_its_work_is_done_is_a_failure) {
  const SeedSummary sum = run([]() -> SimStatistics { _exit(3); });
  BOOST_REQUIRE(!sum.failures.empty());
  BOOST_TEST(sum.failures[0] == "a process of the simulation was ended by itself with status 3");
}

BOOST_AUTO_TEST_SUITE_END()
