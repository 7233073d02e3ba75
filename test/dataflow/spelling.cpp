#include <boost/test/unit_test.hpp>

#include <array>

#include "dataflow/values/spelling.h"

BOOST_AUTO_TEST_SUITE(spelling)

using namespace actorflow;

BOOST_AUTO_TEST_CASE(the_nearest_name_is_proposed) {
  constexpr std::array<std::string_view, 3> known = {"MatMul", "Multiply", "Maximum"};
  BOOST_TEST(did_you_mean("Matmull", known) == "; did you mean 'MatMul'?");
  BOOST_TEST(did_you_mean("Mutiply", known) == "; did you mean 'Multiply'?");
}

BOOST_AUTO_TEST_CASE(nothing_is_proposed_if_nothing_is_near) {
  constexpr std::array<std::string_view, 1> known = {"MatMul"};
  BOOST_TEST(did_you_mean("Convolution", known).empty());
  BOOST_TEST(did_you_mean("MatMul", {}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
