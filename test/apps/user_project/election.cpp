// The election, tested in a simulation, and the bug that is planted in it, which the seeds find.
#define BOOST_TEST_MODULE election
#include "election_checks.h"

SIMULATION_TEST(each_term_has_one_leader, actorflow::seeds(1, 20)) { election::elect(true); }

BOOST_AUTO_TEST_CASE(a_node_that_forgets_its_vote_is_found) {
  const auto forgetful = [] { election::elect(false); };
  const auto failure = actorflow::run_seeds({1, 300}, forgetful, "forgetful.trace.json");
  BOOST_REQUIRE(failure);
  BOOST_TEST_MESSAGE(failure->to_string());
  BOOST_TEST(failure->error.find("'each term has one leader' does not hold") != std::string::npos);
  BOOST_TEST(actorflow::run_seed(failure->seed, forgetful).has_value());
}
