#include "actors/simulation/world/schedule.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>

BOOST_AUTO_TEST_SUITE(schedule)

using namespace actorflow;

namespace {

// Two actors of three messages each: which of them ran, in order.
std::string interleave(Schedule& schedule) {
  std::string order;
  std::map<std::uint64_t, int> left{{1, 3}, {2, 3}};
  while (!left.empty()) {
    std::vector<std::uint64_t> actors;
    for (const auto& entry : left) actors.push_back(entry.first);
    const auto chosen = actors[actors.size() == 1 ? 0 : schedule.choose(actors)];
    order += std::to_string(chosen);
    if (--left[chosen] == 0) left.erase(chosen);
  }
  return order;
}

}  // namespace

BOOST_AUTO_TEST_CASE(numbers_of_a_seed_are_the_same_everywhere) {
  SeededRandom random(1234567);
  // The published test values of SplitMix64.
  BOOST_TEST(random.next() == 6457827717110365317u);
  BOOST_TEST(random.next() == 3203168211198807973u);
}

BOOST_AUTO_TEST_CASE(a_random_schedule_depends_on_its_seed_only) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomSchedule one(seed), same(seed);
    const std::string order = interleave(one);
    BOOST_TEST(order == interleave(same));
    orders.insert(order);
  }
  BOOST_TEST(orders.size() == 20u);  // all of 6! / (3! 3!)
}

BOOST_AUTO_TEST_CASE(an_exhaustive_search_sees_every_order_once) {
  ExhaustiveSearch search;
  std::set<std::string> orders;
  int runs = 0;
  do {
    orders.insert(interleave(*search.schedule()));
    ++runs;
  } while (search.advance());
  BOOST_TEST(orders.size() == 20u);
  BOOST_TEST(runs == 20);
  BOOST_TEST(search.complete());
}

BOOST_AUTO_TEST_CASE(an_exhaustive_search_says_when_it_was_cut_short) {
  ExhaustiveSearch search(2);
  int runs = 0;
  do {
    interleave(*search.schedule());
    ++runs;
  } while (search.advance());
  BOOST_TEST(runs == 4);
  BOOST_TEST(!search.complete());
}

BOOST_AUTO_TEST_CASE(pct_runs_the_highest_until_its_priority_changes) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    PctSchedule plain(seed, 1, 6);
    const std::string order = interleave(plain);
    BOOST_TEST((order == "111222" || order == "222111"));
    PctSchedule changing(seed, 2, 6);
    orders.insert(interleave(changing));
  }
  BOOST_TEST(orders.contains("112221"));
  BOOST_TEST(!orders.contains("121212"));  // that takes more than one change
}

BOOST_AUTO_TEST_SUITE_END()
