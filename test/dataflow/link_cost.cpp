#include "dataflow/collectives/link_cost.h"

#include <boost/test/unit_test.hpp>
#include <limits>

#include "dataflow/values/error.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(link_cost)

using namespace actorflow;

namespace {

const LinkCost usual{
    .latency = 100e-6, .per_message = 4e-6, .per_byte = 0.3e-9, .per_byte_of_port = 0.1e-9};

// What a link of such costs shows.
LinkTimes times_of(const LinkCost& cost) {
  LinkTimes times{.burst_messages = 8, .large_bytes = 1 << 20};
  times.round_trip = 2 * (cost.latency + cost.per_message);
  times.burst = times.round_trip + 7 * cost.per_message;
  times.large = times.round_trip + (1 << 20) * (cost.per_byte + cost.per_byte_of_port);
  return times;
}

}  // namespace

BOOST_AUTO_TEST_CASE(times_show_the_costs_that_they_come_from) {
  const LinkCost real{
      .latency = 40e-6, .per_message = 3e-6, .per_byte = 0.9e-9, .per_byte_of_port = 0.3e-9};
  const LinkCost cost = actorflow::link_cost(times_of(real), usual);
  const auto close = boost::test_tools::tolerance(1e-6);
  BOOST_TEST(cost.latency == real.latency, close);
  BOOST_TEST(cost.per_message == real.per_message, close);
  BOOST_TEST(cost.per_byte == real.per_byte, close);
  BOOST_TEST(cost.per_byte_of_port == real.per_byte_of_port, close);
}

BOOST_AUTO_TEST_CASE(what_was_not_measured_is_as_usual) {
  BOOST_TEST((actorflow::link_cost({}, usual) == usual));
  LinkTimes times = times_of({.latency = 40e-6, .per_message = 3e-6, .per_byte = 1e-9});
  times.large = 0;
  const LinkCost without_large = actorflow::link_cost(times, usual);
  BOOST_TEST(without_large.per_byte == usual.per_byte);
  BOOST_TEST(without_large.latency < 41e-6);
  times.burst = 0;
  BOOST_TEST(actorflow::link_cost(times, usual).per_message == usual.per_message);
}

BOOST_AUTO_TEST_CASE(no_cost_is_negative_or_that_of_ranks_that_never_sleep) {
  const LinkCost quick = actorflow::link_cost(
      {.round_trip = 2e-6, .burst = 1e-6, .burst_messages = 8, .large = 1e-6, .large_bytes = 1000},
      usual);
  BOOST_TEST(quick.latency == 15e-6);
  BOOST_TEST(quick.per_message > 0);
  BOOST_TEST(quick.per_byte > 0);
  BOOST_TEST(quick.per_byte_of_port > 0);
}

BOOST_AUTO_TEST_CASE(costs_are_numbers_from_0_on) {
  BOOST_CHECK_NO_THROW(check_costs({}));
  CostModel wrong;
  wrong.network.per_byte = -1;
  BOOST_CHECK_EXCEPTION(check_costs(wrong), Error,
                        test::says("CostModel::network.per_byte is -1.000000 s, expected 0 or more"));
  wrong = {};
  wrong.per_added_byte = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_EXCEPTION(check_costs(wrong), Error, test::says("CostModel::per_added_byte"));
}

BOOST_AUTO_TEST_SUITE_END()
