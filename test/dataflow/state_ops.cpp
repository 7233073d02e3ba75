#include "dataflow/state_ops.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/graph.h"
#include "test/dataflow/expect.h"

using namespace actorflow;
using test::invalid_with;

BOOST_AUTO_TEST_SUITE(state_ops)

BOOST_AUTO_TEST_CASE(a_variable_needs_a_name_and_a_known_shape) {
  Graph g;
  BOOST_CHECK_EXCEPTION(
      g.add(read_variable_op(), {}, {{"variable", ""}, {"dtype", DType::float32}, {"shape", Shape()}}),
      Error, invalid_with({"name of a variable"}));
  BOOST_CHECK_EXCEPTION(g.add(read_variable_op(), {},
                              {{"variable", "w"}, {"dtype", DType::float32}, {"shape", Shape{-1}}}),
                        Error, invalid_with({"fully known", "[?]"}));
}

BOOST_AUTO_TEST_SUITE_END()
