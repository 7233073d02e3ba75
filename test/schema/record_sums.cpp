#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "schema/records/record_codec.h"
#include "schema/records/sums.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(record_sums)

using namespace actorflow;

namespace {

struct Sale {
  std::int64_t items;
  std::array<double, 2> price_and_tax;
};

}  // namespace

BOOST_AUTO_TEST_CASE(records_are_added_number_by_number) {
  std::tuple<Sale, std::vector<float>, std::pair<int, std::uint8_t>> sum{
      {1, {1.5, 0.25}}, {1, 2}, {-1, 100}};
  AddFields()(sum, {{2, {3, 0.5}}, {10, 20}, {5, 55}});
  const auto& [sale, floats, pair] = sum;
  BOOST_TEST(sale.items == 3);
  BOOST_TEST((sale.price_and_tax == std::array{4.5, 0.75}));
  BOOST_TEST((floats == std::vector<float>{11, 22}));
  BOOST_TEST(pair.first == 4);
  BOOST_TEST(int{pair.second} == 155);
}

BOOST_AUTO_TEST_CASE(vectors_of_different_sizes_are_not_added) {
  std::vector<int> sum{1, 2};
  BOOST_TEST(test::error_of([&] {
               AddFields()(sum, {1, 2, 3});
             }) == "a sum of vectors: expected 2 elements, as the first one has, got 3");
}

BOOST_AUTO_TEST_CASE(a_mean_is_a_record_of_sum_and_count) {
  using Point = std::array<double, 2>;
  MeanOf<Point> left, right;
  left.add({1, 10});
  left.add({2, 20});
  right.add({6, 0});
  AddFields()(left, right);
  BOOST_TEST(left.count == 3);
  BOOST_TEST((left.sum == Point{9, 30}));
  BOOST_TEST((left.value() == Point{3, 10}));
  BOOST_TEST(record_layout<MeanOf<Point>>() == "{array<float64,2>,int64}");
  BOOST_TEST(record_layout<MeanOf<double>>() == "{float64,int64}");
}

BOOST_AUTO_TEST_SUITE_END()
