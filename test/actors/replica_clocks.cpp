#include "actors/training/replica_clocks.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

BOOST_AUTO_TEST_SUITE(replica_clocks)

using namespace actorflow;

BOOST_AUTO_TEST_CASE(a_replica_waits_when_it_is_more_than_the_bound_ahead) {
  ReplicaClocks clocks(2);
  clocks.join(0);
  clocks.join(1);
  for (const auto& [clock, may] : {std::pair{1, true}, {2, true}, {3, false}}) {
    clocks.advance(0, clock);
    BOOST_TEST(clocks.may_go_on(0) == may);
  }
  BOOST_TEST(clocks.slowest() == std::vector<std::int64_t>{1}, boost::test_tools::per_element());
  clocks.advance(1, 1);
  BOOST_TEST(clocks.may_go_on(0));
  BOOST_TEST(clocks.max_lead() == 2);
}

BOOST_AUTO_TEST_CASE(a_bound_of_0_keeps_all_in_the_same_step) {
  ReplicaClocks clocks(0);
  clocks.join(0);
  clocks.join(1);
  clocks.advance(0, 1);
  BOOST_TEST(!clocks.may_go_on(0));
  clocks.advance(1, 1);
  BOOST_TEST(clocks.may_go_on(0));
  BOOST_TEST(clocks.may_go_on(1));
}

BOOST_AUTO_TEST_CASE(nobody_waits_for_a_replica_that_has_left) {
  ReplicaClocks clocks(1);
  clocks.join(0);
  clocks.join(1);
  clocks.advance(0, 2);
  BOOST_TEST(!clocks.may_go_on(0));
  clocks.leave(1);
  BOOST_TEST(clocks.may_go_on(0));
}

BOOST_AUTO_TEST_CASE(who_joins_late_or_again_starts_beside_the_slowest) {
  ReplicaClocks clocks(1);
  BOOST_TEST(clocks.join(0) == 0);
  clocks.advance(0, 7);
  BOOST_TEST(clocks.join(1) == 7);
  clocks.advance(1, 8);
  BOOST_TEST(clocks.join(1) == 7);
}

BOOST_AUTO_TEST_CASE(the_slowest_is_known_whoever_joins_advances_and_leaves) {
  ReplicaClocks clocks(2);
  std::minstd_rand random(1);
  for (int move = 0; move < 5'000; ++move) {
    const std::int64_t replica = random() % 6;
    const auto own = clocks.clocks().find(replica);
    switch (random() % 8) {
      case 0:
        clocks.join(replica);
        break;
      case 1:
        clocks.leave(replica);
        break;
      default:
        clocks.advance(replica, (own == clocks.clocks().end() ? 0 : own->second) + 1);
    }
    std::vector<std::int64_t> values;
    for (const auto& entry : clocks.clocks()) values.push_back(entry.second);
    BOOST_REQUIRE(clocks.minimum() == (values.empty() ? 0 : std::ranges::min(values)));
    BOOST_REQUIRE(static_cast<std::ptrdiff_t>(clocks.slowest().size()) ==
                  std::ranges::count(values, clocks.minimum()));
  }
}

BOOST_AUTO_TEST_CASE(a_clock_never_goes_back) {
  ReplicaClocks clocks(1);
  clocks.advance(0, 5);
  clocks.advance(0, 3);
  BOOST_TEST(clocks.clocks().at(0) == 5);
}

BOOST_AUTO_TEST_CASE(whoever_is_slow_the_lead_stays_within_the_bound) {
  for (const std::int64_t bound : {0, 1, 3, 8}) {
    ReplicaClocks clocks(bound);
    std::minstd_rand random(static_cast<unsigned>(bound + 1));
    std::vector<std::int64_t> done(4, 0);
    std::vector<bool> waits(4, false);
    for (int replica = 0; replica < 4; ++replica) clocks.join(replica);
    for (int move = 0; move < 20'000; ++move) {
      // Replica 3 is the slow one.
      const std::size_t replica = random() % 50 == 0 ? 3 : random() % 3;
      if (waits[replica]) {
        waits[replica] = !clocks.may_go_on(static_cast<std::int64_t>(replica));
        continue;
      }
      clocks.advance(static_cast<std::int64_t>(replica), ++done[replica]);
      waits[replica] = !clocks.may_go_on(static_cast<std::int64_t>(replica));
      const auto [low, high] = std::ranges::minmax(done);
      BOOST_REQUIRE(high - low <= bound + 1);  // one step further than its beginning
    }
    BOOST_TEST(clocks.max_lead() == bound);
    BOOST_TEST(std::ranges::min(done) > 100);
  }
}

BOOST_AUTO_TEST_SUITE_END()
