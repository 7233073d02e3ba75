// The first records in an order, against all of them sorted.
#include "actors/jobs/sorting/top.h"

#include <boost/test/unit_test.hpp>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "actors/jobs/sorting/record_order.h"

BOOST_AUTO_TEST_SUITE(top)

using namespace actorflow;

namespace {

// Keys that come more than once, in any order, with a number each.
template <class Key>
std::vector<std::pair<Key, int>> records_of(const std::vector<Key>& keys) {
  std::mt19937 random(1);
  std::vector<std::pair<Key, int>> records;
  for (int i = 0; i < 2000; ++i) records.emplace_back(keys[random() % keys.size()], i);
  return records;
}

template <class Key>
void expect_first_ones(const std::vector<Key>& keys) {
  const auto key_of = [](const std::pair<Key, int>& record) { return record.first; };
  auto records = records_of(keys);
  for (const auto direction : {SortOrder::ascending, SortOrder::descending})
    for (const std::size_t n : {0, 1, 7, 1500, 3000}) {
      const KeyOrder<std::pair<Key, int>, decltype(key_of)> order(
          key_of, direction, std::make_shared<const PlanOperator>());
      Best<std::pair<Key, int>, decltype(order)> best(n, order);
      for (const auto& record : records) best.add(record);
      auto sorted = records;
      std::ranges::stable_sort(sorted, {}, [&](const auto& record) { return order.prefix(record); });
      sorted.resize(std::min(n, sorted.size()));
      const auto numbers = [](const auto& of) {
        std::vector<int> all;
        for (const auto& record : of) all.push_back(record.second);
        return all;
      };
      BOOST_TEST(numbers(best.take()) == numbers(sorted));
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(equal_keys_keep_the_order_of_their_coming) {
  expect_first_ones<int>({3, -1, 2, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()});
}

BOOST_AUTO_TEST_CASE(keys_that_are_no_numbers_are_ordered_by_their_bits) {
  using Limits = std::numeric_limits<double>;
  expect_first_ones<double>({0.0, -0.0, 1.5, Limits::infinity(), -Limits::infinity(),
                             Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::lowest()});
}

BOOST_AUTO_TEST_SUITE_END()
