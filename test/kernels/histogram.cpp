// What the op table does not hold: limits, and numbers that are not finite.
#include "kernels/ops/histogram.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"

BOOST_AUTO_TEST_SUITE(histogram)

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Result {
  double operator[](HistogramStatistic which) const {
    return statistics.values<double>()[static_cast<std::size_t>(which)];
  }
  // The bucket of the only number that was counted.
  std::ptrdiff_t bucket() const {
    const auto all = counts.values<std::int64_t>();
    return std::ranges::find(all, 1) - all.begin();
  }

  Tensor statistics, counts;
};

Result histogram_of(const std::vector<double>& values) {
  Graph graph;
  const Histogram h = actorflow::histogram(
      graph.constant(Tensor::of<double>({static_cast<std::int64_t>(values.size())}, values)));
  const auto tensors = interpret(graph.def(), {}, {h.statistics, h.counts});
  return {tensors[0], tensors[1]};
}

}  // namespace

BOOST_AUTO_TEST_CASE(limits_ascend_by_tenths_on_both_sides_of_zero) {
  const auto limits = histogram_limits();
  BOOST_TEST_REQUIRE(limits.size() == static_cast<std::size_t>(histogram_buckets));
  BOOST_TEST(std::ranges::is_sorted(limits));
  BOOST_TEST(limits[histogram_buckets / 2] == 0);
  BOOST_TEST(limits[histogram_buckets / 2 + 1] == 1e-12);
  BOOST_TEST(limits[histogram_buckets / 2 + 2] == 1e-12 * 1.1);
  BOOST_TEST(limits.front() == -limits.back());
}

BOOST_AUTO_TEST_CASE(a_limit_belongs_to_the_bucket_above_it_and_its_neighbours_lie_on_their_sides) {
  const auto limits = histogram_limits();
  for (std::size_t i = 1; i + 1 < limits.size(); ++i)
    for (const double value :
         {std::nextafter(limits[i], -infinity), limits[i], std::nextafter(limits[i], infinity)}) {
      const auto expected = std::ranges::upper_bound(limits, value) - limits.begin();
      BOOST_TEST(histogram_of({value}).bucket() == expected, "for " << value);
    }
}

BOOST_AUTO_TEST_CASE(the_largest_numbers_are_counted) {
  const double largest = std::numeric_limits<double>::max();
  BOOST_TEST(histogram_of({largest}).bucket() == histogram_buckets - 1);
  BOOST_TEST(histogram_of({-largest}).bucket() == 1);
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_is_counted_apart) {
  const Result result = histogram_of({1, std::nan(""), 3, infinity, -infinity});
  BOOST_TEST(result[HistogramStatistic::not_finite] == 3);
  BOOST_TEST(result[HistogramStatistic::count] == 2);
  BOOST_TEST(result[HistogramStatistic::min] == 1);
  BOOST_TEST(result[HistogramStatistic::max] == 3);
  BOOST_TEST(result[HistogramStatistic::sum] == 4);
  BOOST_TEST(result[HistogramStatistic::sum_of_squares] == 10);
}

BOOST_AUTO_TEST_CASE(nothing_has_a_histogram_of_zeros) {
  const Result result = histogram_of({std::nan("")});
  BOOST_TEST(result[HistogramStatistic::count] == 0);
  BOOST_TEST(result[HistogramStatistic::min] == 0);
  BOOST_TEST(result[HistogramStatistic::max] == 0);
}

BOOST_AUTO_TEST_SUITE_END()
