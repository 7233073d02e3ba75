// Seeds that run in processes of their own.
#include "apps/scenario/seed_runs.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <string>

#include "dataflow/values/error.h"

BOOST_AUTO_TEST_SUITE(seed_runs)

using namespace actorflow;

namespace {

SeedSummary run(const std::function<SimStatistics()>& body, SeedRange range = {1, 4},
                int processes = 2) {
  return run_seeds_in_processes(range, processes, body, [](const SeedSummary&) {});
}

SimStatistics ten_messages() {
  SimStatistics statistics;
  statistics.messages = 10;
  return statistics;
}

std::uint64_t running_seed() { return SeedScope::current()->options().seed; }

}  // namespace

BOOST_AUTO_TEST_CASE(what_all_processes_have_found_is_added_up) {
  const SeedSummary sum = run(ten_messages);
  BOOST_TEST(sum.errors.empty());
  BOOST_TEST(sum.seeds == 4u);
  BOOST_TEST(sum.messages == 40u);
}

BOOST_AUTO_TEST_CASE(the_largest_seeds_are_run) {
  constexpr std::uint64_t largest = ~std::uint64_t{0};
  BOOST_TEST(run(ten_messages, {largest, largest}).seeds == 1u);
  BOOST_TEST(run(ten_messages, {largest - 6, largest}, 3).seeds == 7u);
}

// The larger one fails at once, the smaller one after a while.
BOOST_AUTO_TEST_CASE(the_smallest_seed_that_fails_is_found_by_any_number_of_processes) {
  const auto body = []() -> SimStatistics {
    if (running_seed() == 5) usleep(50'000);
    if (running_seed() >= 5) throw Error(Code::internal, "too large");
    return ten_messages();
  };
  for (const int processes : {1, 2, 5, 40}) {
    const SeedSummary sum = run(body, {1, 1000}, processes);
    BOOST_REQUIRE(!sum.errors.empty());
    BOOST_TEST(sum.errors.begin()->first == 5u);
    BOOST_TEST(sum.errors.begin()->second == "too large");
    BOOST_TEST(sum.seeds < 50u);
  }
}

BOOST_AUTO_TEST_CASE(a_process_that_dies_is_an_error_of_its_seed) {
  const SeedSummary killed = run([]() -> SimStatistics {
    if (running_seed() == 3) raise(SIGKILL);
    return {};
  });
  BOOST_REQUIRE(killed.errors.contains(3));
  BOOST_TEST(killed.errors.at(3) == "the process of the simulation was ended by signal 9");
  const SeedSummary ended = run([]() -> SimStatistics { _exit(3); }, {2, 2});
  BOOST_REQUIRE(ended.errors.contains(2));
  BOOST_TEST(ended.errors.at(2) == "the process of the simulation was ended by itself with status 3");
}

BOOST_AUTO_TEST_CASE(a_seed_is_explained_in_words_with_one_command) {
  const auto fails = []() -> SimStatistics { throw Error(Code::internal, "it\nbroke"); };
  BOOST_TEST(
      explain_seed(7, "it broke", fails, {}, "program --flag") ==
      "seed 7 fails with no fault at all: it\nbroke\nto see it again: ACTORFLOW_SEED=7 program --flag");
  const auto dies = []() -> SimStatistics {
    raise(SIGKILL);
    return {};
  };
  BOOST_TEST(explain_seed(7, "it died", dies, {}, "program") ==
             "seed 7 fails: it died\nto see it again: ACTORFLOW_SEED=7 program");
  const std::string passes = explain_seed(7, "it broke", ten_messages, {}, "program");
  BOOST_TEST(passes.find("seed 7 has failed once and then passed") == 0u, passes);
}

BOOST_AUTO_TEST_SUITE_END()
