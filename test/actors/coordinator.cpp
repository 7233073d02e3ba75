#include "actors/coordinator.h"

#include <boost/test/unit_test.hpp>

namespace actorflow {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator)

BOOST_AUTO_TEST_CASE(a_fast_replica_cannot_take_the_token_of_a_slow_one) {
  StepTokens tokens(7, 2);
  BOOST_TEST(tokens.take(0, 2));
  BOOST_TEST(!tokens.take(0, 2));
  BOOST_TEST(tokens.take(1, 2));
  BOOST_TEST(!tokens.take(1, 2));
  BOOST_TEST(tokens.global_step() == 7);
}

BOOST_AUTO_TEST_CASE(tokens_beyond_one_for_each_replica_go_to_whoever_comes_first) {
  StepTokens tokens(1, 4);
  BOOST_TEST(tokens.take(0, 3));
  BOOST_TEST(tokens.take(0, 3));
  BOOST_TEST(!tokens.take(0, 3));
  BOOST_TEST(tokens.take(1, 3));
  BOOST_TEST(tokens.take(2, 3));
  BOOST_TEST(!tokens.take(2, 3));
}

BOOST_AUTO_TEST_CASE(fewer_tokens_than_replicas_go_to_the_first_that_ask) {
  StepTokens tokens(0, 1);
  BOOST_TEST(tokens.take(2, 3));
  BOOST_TEST(!tokens.take(0, 3));
  BOOST_TEST(!StepTokens().take(0, 3));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace actorflow
