#include <boost/test/unit_test.hpp>

#include "dataflow/values/shape.h"
#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(shape)

using namespace actorflow;
using test::invalid_with;

BOOST_AUTO_TEST_CASE(default_is_a_scalar) {
  const Shape scalar;
  BOOST_TEST(scalar.rank() == 0);
  BOOST_TEST(scalar.fully_known());
  BOOST_TEST(scalar.elements() == 1);
  BOOST_TEST(scalar.to_string() == "[]");
}

BOOST_AUTO_TEST_CASE(text_shows_what_is_unknown) {
  BOOST_TEST((Shape{2, -1, 3}.to_string()) == "[2,?,3]");
  BOOST_TEST(Shape::unknown_rank().to_string() == "<unknown>");
  BOOST_TEST(!(Shape{2, -1}.fully_known()));
  BOOST_TEST(!Shape::unknown_rank().fully_known());
}

BOOST_AUTO_TEST_CASE(elements_multiply_and_overflow_is_refused) {
  BOOST_TEST((Shape{3, 4, 5}.elements()) == 60);
  BOOST_TEST((Shape{3, 0, 5}.elements()) == 0);
  const std::int64_t large = std::int64_t{1} << 32;
  BOOST_CHECK_EXCEPTION((Shape{large, large}.elements()), Error, invalid_with({"2^63 elements"}));
}

BOOST_AUTO_TEST_CASE(bad_dimensions_are_refused) {
  BOOST_CHECK_EXCEPTION((Shape{2, -2}), Error, invalid_with({"-2"}));
  BOOST_CHECK_EXCEPTION((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), Error, invalid_with({"at most 8"}));
}

BOOST_AUTO_TEST_CASE(merge_keeps_the_most_that_both_know) {
  BOOST_TEST((Shape{-1, 3}.merge({2, -1}) == Shape{2, 3}));
  BOOST_TEST((Shape::unknown_rank().merge({2, -1}) == Shape{2, -1}));
  BOOST_TEST((Shape{2, -1}.merge(Shape::unknown_rank()) == Shape{2, -1}));
  BOOST_TEST(!(Shape{2, 3}.compatible_with({2, 4})));
  BOOST_TEST(!(Shape{2, 3}.compatible_with({2})));
  BOOST_CHECK_EXCEPTION((Shape{2, 3}.merge({2, 4})), Error, invalid_with({"[2,3]", "[2,4]"}));
}

BOOST_AUTO_TEST_CASE(unknown_rank_differs_from_a_scalar) {
  BOOST_TEST((Shape::unknown_rank() != Shape()));
  BOOST_TEST((Shape{1} != Shape()));
}

BOOST_AUTO_TEST_CASE(broadcast_follows_numpy) {
  BOOST_TEST((broadcast({2, 3}, {3}) == Shape{2, 3}));
  BOOST_TEST((broadcast({2, 1}, {1, 4}) == Shape{2, 4}));
  BOOST_TEST((broadcast({}, {5}) == Shape{5}));
  BOOST_TEST((broadcast({0, 3}, {1, 3}) == Shape{0, 3}));
  BOOST_CHECK_EXCEPTION(broadcast({2, 3}, {2}), Error, invalid_with({"[2,3]", "[2]", "3 and 2"}));
}

BOOST_AUTO_TEST_CASE(broadcast_of_unknown_dimensions) {
  BOOST_TEST((broadcast({-1, 3}, {3}) == Shape{-1, 3}));
  BOOST_TEST((broadcast({-1}, {5}) == Shape{5}));
  BOOST_TEST((broadcast({-1}, {1}) == Shape{-1}));
  BOOST_TEST((broadcast(Shape::unknown_rank(), {1}) == Shape::unknown_rank()));
}

BOOST_AUTO_TEST_SUITE_END()
