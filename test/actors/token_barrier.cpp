#include "actors/training/token_barrier.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(token_barrier)

using namespace actorflow;

namespace {

using Next = std::optional<Contribution>;

BOOST_AUTO_TEST_CASE(a_fast_replica_cannot_take_the_token_of_a_slow_one) {
  StepTokens tokens(7, 2);
  BOOST_TEST((tokens.next(0, {6, 0}, 2) == Next({7, 0})));
  BOOST_TEST((tokens.next(0, {7, 0}, 2) == std::nullopt));
  BOOST_TEST((tokens.next(1, {6, 0}, 2) == Next({7, 0})));
  BOOST_TEST((tokens.next(1, {7, 0}, 2) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(tokens_beyond_one_for_each_replica_go_to_whoever_comes_first) {
  StepTokens tokens(1, 4);
  BOOST_TEST((tokens.next(0, {0, 0}, 3) == Next({1, 0})));
  BOOST_TEST((tokens.next(0, {1, 0}, 3) == Next({1, 1})));
  BOOST_TEST((tokens.next(0, {1, 1}, 3) == std::nullopt));
  BOOST_TEST((tokens.next(1, {0, 0}, 3) == Next({1, 0})));
  BOOST_TEST((tokens.next(2, {0, 0}, 3) == Next({1, 0})));
  BOOST_TEST((tokens.next(2, {1, 0}, 3) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(the_first_contribution_of_all_needs_no_token) {
  StepTokens tokens(0, 1, true);
  BOOST_TEST((tokens.next(2, no_contribution, 3) == Next({0, 0})));
  BOOST_TEST((tokens.next(2, {0, 0}, 3) == Next({0, 1})));
  BOOST_TEST((tokens.next(0, no_contribution, 3) == Next({0, 0})));
  BOOST_TEST((tokens.next(0, {0, 0}, 3) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(a_replica_that_comes_back_makes_its_contributions_again_and_no_others) {
  StepTokens tokens(5, 3);
  BOOST_TEST((tokens.next(0, {4, 0}, 2) == Next({5, 0})));
  BOOST_TEST((tokens.next(0, {5, 0}, 2) == Next({5, 1})));
  for (int life = 0; life < 3; ++life) {
    BOOST_TEST((tokens.next(0, no_contribution, 2) == Next({5, 0})));
    BOOST_TEST((tokens.next(0, {5, 0}, 2) == Next({5, 1})));
    BOOST_TEST((tokens.next(0, {5, 1}, 2) == std::nullopt));
  }
  BOOST_TEST((tokens.next(1, {4, 0}, 2) == Next({5, 0})));
}

BOOST_AUTO_TEST_CASE(a_replica_that_missed_steps_goes_on_with_the_newest) {
  StepTokens tokens(9, 2);
  BOOST_TEST((tokens.next(1, {3, 1}, 2) == Next({9, 0})));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
