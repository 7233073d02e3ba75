#include "kernels/ops/learning_rate.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>

#include "test/kernels/support/interpreter.h"

BOOST_AUTO_TEST_SUITE(learning_rate)

using namespace actorflow;

namespace {

double at(std::int64_t step, const std::function<Output(Output)>& rate) {
  Graph g;
  return test::value_of(rate(g.constant(step))).scalar<double>();
}

void check(std::int64_t step, const std::function<Output(Output)>& rate, double expected) {
  BOOST_TEST_CONTEXT("step " << step)
  BOOST_TEST(at(step, rate) == expected, boost::test_tools::tolerance(1e-12));
}

}  // namespace

BOOST_AUTO_TEST_CASE(exponential_decay_multiplies_by_the_rate_in_each_period) {
  const auto rate = [](Output step) { return exponential_decay(0.8, step, 10, 0.25); };
  check(0, rate, 0.8);
  check(5, rate, 0.4);
  check(10, rate, 0.2);
  const auto stairs = [](Output step) { return exponential_decay(0.8, step, 10, 0.25, true); };
  check(9, stairs, 0.8);
  check(10, stairs, 0.2);
  check(20, stairs, 0.05);
}

BOOST_AUTO_TEST_CASE(inverse_time_decay_divides_by_the_time) {
  const auto rate = [](Output step) { return inverse_time_decay(1, step, 2, 0.5); };
  check(0, rate, 1);
  check(4, rate, 0.5);
  check(
      3, [](Output step) { return inverse_time_decay(1, step, 2, 1, true); }, 0.5);
}

BOOST_AUTO_TEST_CASE(polynomial_decay_ends_at_its_last_value) {
  const auto rate = [](Output step) { return polynomial_decay(1, step, 4, 0.2, 2); };
  check(0, rate, 1);
  check(2, rate, 0.8 * 0.25 + 0.2);
  check(4, rate, 0.2);
  check(400, rate, 0.2);
}

BOOST_AUTO_TEST_CASE(a_piece_ends_with_its_boundary) {
  const auto rate = [](Output step) { return piecewise_constant(step, {10, 20}, {1, 0.5, 0.1}); };
  check(10, rate, 1);
  check(11, rate, 0.5);
  check(20, rate, 0.5);
  check(21, rate, 0.1);
}

BOOST_AUTO_TEST_CASE(senseless_schedules_are_refused) {
  Graph g;
  const Output step = g.constant(std::int64_t{0});
  BOOST_CHECK_THROW(exponential_decay(1, step, 0, 0.5), Error);
  BOOST_CHECK_THROW(piecewise_constant(step, {1}, {1}), Error);
  BOOST_CHECK_THROW(piecewise_constant(step, {2, 2}, {1, 2, 3}), Error);
}

BOOST_AUTO_TEST_CASE(cosine_decay_follows_half_a_wave) {
  const auto rate = [](Output step) { return cosine_decay(2, step, 8, 0.1); };
  check(0, rate, 2);
  check(4, rate, 2 * (0.1 + 0.9 * 0.5));
  check(2, rate, 2 * (0.1 + 0.9 * 0.5 * (1 + std::sqrt(0.5))));
  check(8, rate, 0.2);
  check(100, rate, 0.2);
}

BOOST_AUTO_TEST_CASE(a_warm_up_leads_to_the_rate) {
  const auto rate = [](Output step) { return linear_warmup(0.8, step, 4, 0.25); };
  check(0, rate, 0.2);
  check(2, rate, 0.8 * 0.625);
  check(4, rate, 0.8);
  check(9, rate, 0.8);
  const auto decaying = [](Output step) {
    return linear_warmup(exponential_decay(1, step, 1, 0.5), step, 2);
  };
  check(1, decaying, 0.25);
  check(3, decaying, 0.125);
  Graph g;
  const Output step = g.constant(std::int64_t{0});
  BOOST_CHECK_THROW(linear_warmup(1.0, step, 0), Error);
  BOOST_CHECK_THROW(linear_warmup(1.0, step, 5, 2), Error);
}

BOOST_AUTO_TEST_SUITE_END()
