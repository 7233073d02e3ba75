#include "dataflow/graph/state_ops.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/graph/graph.h"
#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(state_ops)

using namespace actorflow;
using test::invalid_with;

BOOST_AUTO_TEST_CASE(a_variable_needs_a_name_and_a_known_shape) {
  Graph g;
  BOOST_CHECK_EXCEPTION(
      g.add(read_variable_op(), {}, {{"variable", ""}, {"dtype", DType::float32}, {"shape", Shape()}}),
      Error, invalid_with({"name of a variable"}));
  BOOST_CHECK_EXCEPTION(g.add(read_variable_op(), {},
                              {{"variable", "w"}, {"dtype", DType::float32}, {"shape", Shape{-1}}}),
                        Error, invalid_with({"fully known", "[?]"}));
}

BOOST_AUTO_TEST_CASE(a_part_of_a_variable_lies_inside_of_the_whole) {
  Graph g;
  const Output initial = g.constant(Tensor::zeros(DType::float32, {2, 3}));
  const Variable part = g.name_scope("scope", [&] {
    return g.variable("w/part_1", initial, {"w", {5, 3}, {3, 0}});
  });
  const Node& read = part.value().node();
  BOOST_TEST(attr<std::string>(read, "slice_of") == "scope/w");
  BOOST_TEST(attr<Shape>(read, "slice_shape").to_string() == "[5,3]");
  BOOST_TEST(attr<std::vector<std::int64_t>>(read, "slice_offset") == (std::vector<std::int64_t>{3, 0}),
             boost::test_tools::per_element());
  BOOST_CHECK_EXCEPTION(g.variable("a", initial, {"w", {5, 3}, {4, 0}}), Error,
                        invalid_with({"slice_offset", "[2,3]", "[5,3]"}));
  BOOST_CHECK_EXCEPTION(g.variable("a", initial, {"w", {5, 3}, {0}}), Error,
                        invalid_with({"1 numbers"}));
}

BOOST_AUTO_TEST_CASE(rows_of_a_variable_have_the_shape_of_the_indices_and_of_a_row) {
  Graph g;
  const Attrs attrs{{"variable", "w"}, {"dtype", DType::float32}, {"shape", Shape{5, 3}}};
  const auto rows = [&](DType dtype, const Shape& shape) {
    return g.add(gather_variable_op(), {g.placeholder(dtype, shape)}, attrs).type().to_string();
  };
  BOOST_TEST(rows(DType::int64, {-1, 2}) == "float32[?,2,3]");
  BOOST_TEST(rows(DType::int32, {}) == "float32[3]");
  BOOST_CHECK_EXCEPTION(rows(DType::float32, {2}), Error,
                        invalid_with({"int32 or int64", "float32[2]"}));
}

BOOST_AUTO_TEST_SUITE_END()
