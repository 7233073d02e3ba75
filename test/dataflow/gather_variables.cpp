#include "dataflow/transform/gather_variables.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/graph/state_ops.h"
#include "dataflow/transform/optimise.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(gather_variables)

using namespace actorflow;

namespace {

struct Model {
  Graph g;
  Variable table = g.on("/job:ps/task:1", [this] {
    return g.variable("table", g.constant(Tensor::zeros(DType::float64, {5})));
  });
  Output ids = g.placeholder(DType::int64, {2}, "ids");
  Output rows = g.on("/job:ps/task:1", [this] {
    return g.name_scope("rows", [this] { return test::gather(table, ids); });
  });

  // What is left of a step that fetches these.
  GraphDef step(const std::vector<Output>& fetches) const {
    std::vector<Edge> edges;
    for (const auto& fetch : fetches) edges.push_back(fetch.edge);
    StepGraph step = make_step(g.def(), {ids.edge}, edges, {});
    actorflow::gather_variables(step);
    return prune(step.graph, step.roots).graph;
  }
};

std::size_t count(const GraphDef& graph, const OpDef& op) {
  return static_cast<std::size_t>(std::ranges::count(graph.nodes, &op, &Node::op));
}

}  // namespace

BOOST_AUTO_TEST_CASE(rows_are_read_where_only_rows_are_wanted) {
  const Model m;
  const GraphDef step = m.step({m.rows});
  BOOST_TEST(count(step, read_variable_op()) == 0U);
  const auto gather = std::ranges::find(step.nodes, &gather_variable_op(), &Node::op);
  BOOST_TEST_REQUIRE((gather != step.nodes.end()));
  BOOST_TEST(gather->name == m.rows.name());
  BOOST_TEST(gather->device == "/job:ps/task:1");
  BOOST_TEST(attr<std::string>(*gather, "variable") == "table");
  BOOST_TEST(gather->outputs[0].to_string() == "float64[2]");
}

BOOST_AUTO_TEST_CASE(all_lookups_of_a_table_read_rows) {
  Model m;
  const Output more = m.g.on(m.table.device(), [&] { return test::gather(m.table, m.ids); });
  BOOST_TEST(count(m.step({m.rows, more}), gather_variable_op()) == 2U);
}

BOOST_AUTO_TEST_CASE(a_value_that_somebody_else_takes_is_read_once) {
  Model m;
  const GraphDef fetched = m.step({m.rows, m.table});
  BOOST_TEST(count(fetched, read_variable_op()) == 1U);
  BOOST_TEST(count(fetched, gather_variable_op()) == 0U);
  const Output sum = test::total(m.table);
  BOOST_TEST(count(m.step({m.rows, sum}), gather_variable_op()) == 0U);
}

BOOST_AUTO_TEST_CASE(what_is_ordered_after_the_reading_keeps_it) {
  Model m;
  const Output later = m.g.after({m.table.value()}, [&] { return m.g.constant(1.0); });
  BOOST_TEST(count(m.step({m.rows, later}), read_variable_op()) == 1U);
}

BOOST_AUTO_TEST_CASE(a_gather_elsewhere_stays_where_it_is) {
  Model m;
  const Output here = m.g.on("/job:worker/task:0", [&] { return test::gather(m.table, m.ids); });
  const GraphDef step = m.step({here});
  BOOST_TEST(count(step, gather_variable_op()) == 0U);
  BOOST_TEST(count(step, test::gather_op()) == 1U);
}

BOOST_AUTO_TEST_CASE(updates_of_the_step_come_after_its_lookups) {
  Model m;
  const Output changed =
      m.g.assign_add(m.table, m.g.constant(Tensor::zeros(DType::float64, {5})), "change");
  const GraphDef step = m.step({m.rows, changed});
  const NodeId change = step.find("change");
  BOOST_TEST_REQUIRE(step.node(change).controls.size() == 1U);
  BOOST_TEST((step.node(step.node(change).controls[0]).op == &gather_variable_op()));
}

BOOST_AUTO_TEST_SUITE_END()
