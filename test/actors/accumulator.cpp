#include "actors/training/accumulator.h"

#include <boost/test/unit_test.hpp>

using namespace actorflow;

namespace {

Tensor gradient(float value) { return Tensor::of<float>({1}, {value}); }
Accumulator::Gathered take(Accumulator& a) {
  auto all = a.gathered();
  a.advance();
  return all;
}
float value(const Gradient& dense) { return dense.dense.values<float>()[0]; }

}  // namespace

BOOST_AUTO_TEST_SUITE(accumulator)

BOOST_AUTO_TEST_CASE(gradients_are_taken_in_the_order_of_replicas_not_of_arrival) {
  Accumulator a;
  BOOST_TEST(a.add(2, {0, 0}, gradient(2)));
  BOOST_TEST(a.add(0, {0, 0}, gradient(0)));
  BOOST_TEST(a.add(1, {0, 0}, gradient(1)));
  const auto taken = take(a).gradients;
  BOOST_REQUIRE(taken.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(value(taken[i]) == static_cast<float>(i));
}

BOOST_AUTO_TEST_CASE(a_gradient_of_an_earlier_step_is_dropped_and_counted) {
  Accumulator a;
  a.add(0, {0, 0}, gradient(1));
  take(a);
  BOOST_TEST(a.global_step() == 1);
  BOOST_TEST(!a.add(1, {0, 0}, gradient(2)));
  BOOST_TEST(a.counts(1).stale == 1);
  BOOST_TEST(a.counts(0).stale == 0);
  BOOST_TEST(a.counts(0).counted == 1);
  BOOST_TEST(a.size() == 0);
  BOOST_TEST(a.add(1, {1, 0}, gradient(3)));
}

BOOST_AUTO_TEST_CASE(a_contribution_that_is_made_again_counts_once) {
  Accumulator a;
  BOOST_TEST(a.add(1, {4, 0}, gradient(1)));
  BOOST_TEST(a.add(1, {4, 0}, gradient(1)));
  BOOST_TEST(a.size() == 1);
  BOOST_TEST(a.counts(1).counted == 1);
  BOOST_TEST(a.counts(1).repeated == 1);
  BOOST_TEST(a.add(1, {4, 1}, gradient(2)));  // a second one of the same step
  BOOST_TEST(a.size() == 2);
  take(a);
  BOOST_TEST(a.add(1, {4, 0}, gradient(1)));  // it has counted, so it is not stale
  BOOST_TEST(a.counts(1).repeated == 2);
  BOOST_TEST(a.counts(1).stale == 0);
}

BOOST_AUTO_TEST_CASE(the_learning_rate_is_that_of_the_lowest_replica) {
  Accumulator a;
  a.add(1, {0, 0}, gradient(1), Tensor::scalar(0.25));
  a.add(0, {0, 0}, gradient(1), Tensor::scalar(0.5));
  BOOST_TEST(take(a).learning_rate.scalar<double>() == 0.5);
}

BOOST_AUTO_TEST_CASE(a_restored_run_goes_on_from_its_step) {
  Accumulator a;
  a.add(0, {500, 0}, gradient(1));
  a.add(1, {500, 0}, gradient(1));
  take(a);
  BOOST_TEST(a.global_step() == 501);
}

BOOST_AUTO_TEST_SUITE_END()
