#include "schema/records/nearest.h"

#include <boost/test/unit_test.hpp>
#include <limits>

BOOST_AUTO_TEST_SUITE(nearest)

using namespace actorflow;

namespace {

using Point = std::array<double, 2>;

const std::vector<Point> corners{{0, 0}, {0, 4}, {3, 0}, {3, 4}};

}  // namespace

BOOST_AUTO_TEST_CASE(the_nearest_point_is_found) {
  BOOST_TEST(nearest_of(corners, Point{3.4, 4.5}) == 3u);
  BOOST_TEST(nearest_of(corners, Point{-1, 2.5}) == 1u);
  BOOST_TEST(nearest_of(corners, Point{1.4, 1.9}) == 0u);
  BOOST_TEST(nearest_of(std::vector<std::array<float, 1>>{{5}, {2}}, {3}) == 1u);
}

BOOST_AUTO_TEST_CASE(of_points_at_one_distance_it_is_the_first) {
  BOOST_TEST(nearest_of(corners, Point{1.5, 2}) == 0u);
  BOOST_TEST(nearest_of(corners, Point{1.5, 4}) == 1u);
}

BOOST_AUTO_TEST_CASE(without_a_distance_it_is_the_first_place) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(nearest_of(corners, Point{nan, 1}) == 0u);
  BOOST_TEST(nearest_of({}, Point{1, 1}) == 0u);
  BOOST_TEST(nearest_of({{nan, 0}, {9, 9}}, Point{0, 0}) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
