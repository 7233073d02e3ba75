// Who the others have waited for.
#include "actors/training/straggler_watch.h"

#include <boost/test/unit_test.hpp>

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

StragglerWatch::Time at(std::chrono::milliseconds time) { return StragglerWatch::Time(time); }

}  // namespace

BOOST_AUTO_TEST_SUITE(straggler_watch)

BOOST_AUTO_TEST_CASE(the_one_that_comes_last_is_named_with_the_time_for_which_the_others_waited) {
  StragglerWatch watch;
  for (int round = 0; round < 3; ++round) {
    watch.arrived(0, 3, at(round * 1000ms));
    watch.arrived(2, 3, at(round * 1000ms + 100ms));
    watch.arrived(1, 3, at(round * 1000ms + 700ms));
  }
  const auto worst = watch.take_worst();
  BOOST_REQUIRE(worst);
  BOOST_TEST(worst->replica == 1);
  BOOST_TEST((worst->waited == 1800ms));
  BOOST_TEST(!watch.take_worst());
}

BOOST_AUTO_TEST_CASE(nobody_has_waited_for_one_without_which_a_round_ended) {
  StragglerWatch watch;
  watch.arrived(0, 2, at(0ms));
  watch.arrived(0, 2, at(100ms));
  watch.arrived(1, 2, at(150ms));
  const auto worst = watch.take_worst();
  BOOST_REQUIRE(worst);
  BOOST_TEST(worst->replica == 1);
  BOOST_TEST((worst->waited == 50ms));
}

BOOST_AUTO_TEST_CASE(one_alone_waits_for_nobody) {
  StragglerWatch watch;
  watch.arrived(0, 1, at(0ms));
  watch.arrived(0, 1, at(100ms));
  BOOST_TEST(!watch.take_worst());
}

BOOST_AUTO_TEST_SUITE_END()
