// A user's program of its own actors, as test/apps/user_project has it against an installed library.
#include <boost/test/unit_test.hpp>

#include "test/apps/user_project/election_checks.h"

BOOST_AUTO_TEST_SUITE(election_of_users)

using namespace actorflow;

SIMULATION_TEST(each_term_has_one_leader, seeds(1, 20)) { election::elect(true); }

BOOST_AUTO_TEST_CASE(a_node_that_forgets_its_vote_is_found_and_its_seed_fails_again) {
  const auto forgetful = [] { election::elect(false); };
  const auto failure = run_seeds({1, 100}, forgetful, {});
  BOOST_REQUIRE(failure);
  BOOST_TEST(failure->error.find("'each term has one leader' does not hold") != std::string::npos, failure->error);
  BOOST_TEST(run_seed(failure->seed, forgetful).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
