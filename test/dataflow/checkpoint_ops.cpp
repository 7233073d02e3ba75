#include "dataflow/ops/checkpoint_ops.h"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "dataflow/graph/containers.h"
#include "dataflow/graph/graph.h"
#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(checkpoint_ops)

using namespace actorflow;
using test::invalid_with;

namespace {

const std::vector<VariableInCheckpoint> places{{"w", "weights"}, {"part|t", "table", 3, 10, 4}};

Output save(Graph& g, Attrs attrs) {
  attrs["global_step"] = std::string("step");
  return g.add(snapshot_variables_op(), {g.constant("folder"), g.constant<std::int64_t>(0)},
               std::move(attrs));
}

}  // namespace

BOOST_AUTO_TEST_CASE(attributes_say_which_rows_of_which_tensor_each_variable_has) {
  Graph g;
  const auto read = variables_in_checkpoint(save(g, checkpoint_attrs(places)).node());
  BOOST_REQUIRE(read.size() == 2u);
  BOOST_TEST(read[0].variable == "w");
  BOOST_TEST(read[0].name == "weights");
  BOOST_TEST(read[0].full_rows == -1);
  BOOST_TEST(read[1].variable == "part|t");
  BOOST_TEST(read[1].first_row == 3);
  BOOST_TEST(read[1].full_rows == 10);
  BOOST_TEST(read[1].rows == 4);
}

BOOST_AUTO_TEST_CASE(lists_of_different_lengths_are_refused) {
  Graph g;
  Attrs attrs = checkpoint_attrs(places);
  attrs["rows"] = std::vector<std::int64_t>{1};
  BOOST_CHECK_EXCEPTION(save(g, attrs), Error, invalid_with({"one length", "2 variables", "1 rows"}));
  attrs = checkpoint_attrs(places);
  attrs["names"] = Tensor::scalar(1.0f);
  BOOST_CHECK_EXCEPTION(save(g, attrs), Error, invalid_with({"lists of strings"}));
}

BOOST_AUTO_TEST_CASE(an_isolated_session_saves_the_variables_of_its_containers) {
  Graph g;
  const NodeId node = save(g, checkpoint_attrs(places)).edge.node;
  GraphDef copy = g.def();
  isolate(copy, "session-1");
  const auto isolated = variables_in_checkpoint(copy.node(node));
  BOOST_TEST(isolated[0].variable == "session-1:|w");
  BOOST_TEST(isolated[1].variable == "session-1:part|t");
  BOOST_TEST(isolated[0].name == "weights");
  BOOST_TEST(variables_in_checkpoint(g.def().node(node))[0].variable == "w");
}

BOOST_AUTO_TEST_SUITE_END()
