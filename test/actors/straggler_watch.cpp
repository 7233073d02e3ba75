// Who the others have waited for.
#include "actors/training/straggler_watch.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(straggler_watch)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

StragglerWatch::Time at(std::chrono::milliseconds time) { return StragglerWatch::Time(time); }

}  // namespace

BOOST_AUTO_TEST_CASE(the_one_for_whom_the_others_waited_longest_is_named_with_the_time) {
  StragglerWatch watch;
  for (int round = 0; round < 3; ++round) {
    watch.waits_for(1, at(round * 1000ms + 100ms));
    watch.waits_for(std::nullopt, at(round * 1000ms + 700ms));
    watch.waits_for(2, at(round * 1000ms + 800ms));
    watch.waits_for(std::nullopt, at(round * 1000ms + 900ms));
  }
  const auto worst = watch.take_worst(at(3000ms));
  BOOST_REQUIRE(worst);
  BOOST_TEST(worst->replica == 1);
  BOOST_TEST((worst->waited == 1800ms));
  BOOST_TEST(!watch.take_worst(at(4000ms)));
}

BOOST_AUTO_TEST_CASE(a_wait_that_goes_on_counts_up_to_now_and_only_once) {
  StragglerWatch watch;
  watch.waits_for(0, at(100ms));
  BOOST_TEST((watch.take_worst(at(150ms))->waited == 50ms));
  BOOST_TEST((watch.take_worst(at(250ms))->waited == 100ms));
}

BOOST_AUTO_TEST_SUITE_END()
