// When it is said for whom somebody waits.
#include "actors/core/wait_reports.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(wait_reports)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

Clock::time_point at(std::chrono::seconds time) { return Clock::time_point(time); }

}  // namespace

BOOST_AUTO_TEST_CASE(a_wait_for_the_same_ones_is_said_at_once_and_then_every_10_s) {
  WaitReports reports;
  int said = 0;
  for (auto time = 100s; time < 130s; ++time) said += reports.is_due("replica 1", at(time)) ? 1 : 0;
  BOOST_TEST(said == 3);
}

BOOST_AUTO_TEST_CASE(a_wait_for_others_is_said_at_once) {
  WaitReports reports;
  BOOST_TEST(reports.is_due("replica 1", at(100s)));
  BOOST_TEST(reports.is_due("replica 2", at(101s)));
  BOOST_TEST(!reports.is_due("replica 2", at(102s)));
}

BOOST_AUTO_TEST_CASE(a_wait_for_two_by_turns_is_said_of_each_every_10_s) {
  WaitReports reports;
  int said = 0;
  for (int i = 0; i < 30; ++i)
    said += reports.is_due(i % 2 == 0 ? "replica 1" : "replica 2", at(100s + i * 1s)) ? 1 : 0;
  BOOST_TEST(said == 6);
}

BOOST_AUTO_TEST_CASE(waits_for_others_each_second_are_said_thrice_in_10_s) {
  WaitReports reports;
  int said = 0;
  for (int i = 0; i < 30; ++i)
    said += reports.is_due("replica " + std::to_string(i), at(100s + i * 1s)) ? 1 : 0;
  BOOST_TEST(said == 9);
}

BOOST_AUTO_TEST_CASE(that_nobody_is_named_is_no_reason_to_be_silent) {
  WaitReports reports;
  BOOST_TEST(reports.is_due({}, at(100s)));
  BOOST_TEST(!reports.is_due({}, at(101s)));
}

BOOST_AUTO_TEST_SUITE_END()
