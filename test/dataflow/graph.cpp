#include <boost/test/unit_test.hpp>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/graph.h"
#include "test/dataflow/expect.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(graph)

using namespace actorflow;
using test::error_with;
using test::invalid_with;

namespace {

Output identity(Output x, std::string_view name = {}) {
  return x.graph->add(identity_op(), {x}, {}, name);
}

Node node_of(const OpDef& op, std::string name, std::vector<Edge> inputs = {}) {
  Node node;
  node.name = std::move(name);
  node.op = &op;
  node.inputs = std::move(inputs);
  return node;
}

}  // namespace

BOOST_AUTO_TEST_CASE(taken_names_are_numbered) {
  Graph g;
  const Output x = g.constant(1.0, "x");
  BOOST_TEST(identity(x, "y").name() == "y");
  BOOST_TEST(identity(x, "y").name() == "y_1");
  BOOST_TEST(identity(x, "y").name() == "y_2");
  BOOST_TEST(identity(x, "y_3").name() == "y_3");
  BOOST_TEST(identity(x, "y").name() == "y_4");
  BOOST_TEST(identity(x).name() == "Identity");
}

BOOST_AUTO_TEST_CASE(name_scopes_nest_and_are_unique) {
  Graph g;
  const auto add = [&g] { return g.constant(1.0, "x").name(); };
  BOOST_TEST(g.name_scope("a", [&] { return g.name_scope("b", add); }) == "a/b/x");
  BOOST_TEST(g.name_scope("a", add) == "a_1/x");
  BOOST_TEST(add() == "x");
}

BOOST_AUTO_TEST_CASE(device_scopes_merge_inward) {
  Graph g;
  const auto add = [&g] { return g.constant(1.0).node().device; };
  BOOST_TEST(g.on("/job:ps/task:0", [&] { return g.on("/task:1/gpu:0", add); }) ==
             "/job:ps/task:1/device:GPU:0");
  BOOST_TEST(add().empty());
  BOOST_CHECK_EXCEPTION(g.on("/jub:ps", add), Error, invalid_with({"/jub:ps"}));
}

BOOST_AUTO_TEST_CASE(a_scope_ends_when_its_body_throws) {
  Graph g;
  BOOST_CHECK_THROW(g.on("/job:ps", [&] { g.placeholder(DType::invalid, {}); }), Error);
  BOOST_TEST(g.constant(1.0).node().device.empty());
}

BOOST_AUTO_TEST_CASE(a_device_function_sees_the_node) {
  Graph g;
  const DeviceFunction by_op = [](const Node& node) {
    return std::string(node.op == &const_op() ? "/cpu:0" : "/gpu:0");
  };
  const Output y = g.on(by_op, [&] { return identity(g.constant(1.0)); });
  BOOST_TEST(y.node().device == "/device:GPU:0");
  BOOST_TEST(g.def().node(y.node().inputs[0].node).device == "/device:CPU:0");
}

BOOST_AUTO_TEST_CASE(control_scopes_order_what_they_hold) {
  Graph g;
  const Output a = g.constant(1.0), b = g.constant(2.0);
  const Output c = g.after({a, b}, [&] { return g.constant(3.0); });
  BOOST_TEST((c.node().controls == std::vector<NodeId>{a.edge.node, b.edge.node}));
  const Output group = g.group({a, c});
  BOOST_TEST((group.node().controls == std::vector<NodeId>{a.edge.node, c.edge.node}));
  BOOST_CHECK_EXCEPTION(g.add_control(c, a), Error, invalid_with({"forward", c.name()}));
}

BOOST_AUTO_TEST_CASE(types_are_checked_when_a_node_is_added) {
  Graph g;
  const Output x = g.constant(1.0), n = g.constant(std::int64_t{1});
  BOOST_CHECK_EXCEPTION(g.add(add_n_op(), {x, n}, {}, "sum"), Error,
                        invalid_with({"'sum' (AddN)", "one dtype", "float64[]", "int64[]"}));
  BOOST_CHECK_EXCEPTION(g.add(identity_op(), {x, x}), Error, invalid_with({"expected 1 inputs, got 2"}));
  BOOST_CHECK_EXCEPTION(g.add(add_n_op(), {}), Error,
                        invalid_with({"expected 1 or more inputs, got 0"}));
  BOOST_TEST(g.def().size() == 2);
}

BOOST_AUTO_TEST_CASE(attributes_are_checked_when_a_node_is_added) {
  Graph g;
  BOOST_CHECK_EXCEPTION(g.add(const_op()), Error, invalid_with({"'value' is missing"}));
  BOOST_CHECK_EXCEPTION(g.add(const_op(), {}, {{"value", 1.0}}), Error,
                        invalid_with({"'value'", "kind tensor", "kind float64"}));
  BOOST_CHECK_EXCEPTION(g.add(no_op(), {}, {{"colour", true}}), Error,
                        invalid_with({"no attribute 'colour'"}));
}

BOOST_AUTO_TEST_CASE(outputs_of_other_graphs_and_empty_ones_are_refused) {
  Graph g, other;
  BOOST_CHECK_EXCEPTION(g.add(identity_op(), {other.constant(1.0, "far")}), Error,
                        invalid_with({"'far'", "another graph"}));
  BOOST_CHECK_EXCEPTION(g.add(identity_op(), {Output()}), Error, invalid_with({"empty Output"}));
  BOOST_CHECK_EXCEPTION(g.add(identity_op(), {g.constant(1.0).output(1)}), Error,
                        invalid_with({"has 1 outputs", "no output 1"}));
}

BOOST_AUTO_TEST_CASE(a_variable_has_a_read_and_an_initializer_beside_it) {
  Graph g;
  const Variable v = g.on("/job:ps/task:0", [&] {
    return g.name_scope("layer", [&] { return g.variable("w", g.constant(1.0)); });
  });
  BOOST_TEST(v.name() == "layer/w");
  BOOST_TEST(v.type().to_string() == "float64[]");
  BOOST_TEST(v.device() == "/job:ps/task:0");
  BOOST_TEST(v.initializer().node().device == "/job:ps/task:0");
  BOOST_TEST(attr<std::string>(v.initializer().node(), "variable") == "layer/w");
  BOOST_TEST(g.variables().size() == 1U);
}

BOOST_AUTO_TEST_CASE(variables_need_a_name_of_their_own_and_a_known_shape) {
  Graph g;
  g.variable("w", g.constant(1.0));
  BOOST_CHECK_EXCEPTION(g.variable("w", g.constant(1.0)), Error,
                        error_with(Code::already_exists, {"'w'"}));
  BOOST_CHECK_EXCEPTION(g.variable("v", g.placeholder(DType::float32, {-1}, "start")), Error,
                        invalid_with({"'v'", "'start'", "float32[?]"}));
}

BOOST_AUTO_TEST_CASE(nodes_are_found_by_name) {
  Graph g;
  g.constant(1.0, "weights");
  BOOST_TEST(g.def().find("weights") == 0);
  BOOST_CHECK_EXCEPTION(g.def().find("weihgts"), Error,
                        error_with(Code::not_found, {"'weihgts'", "did you mean 'weights'?"}));
}

BOOST_AUTO_TEST_CASE(a_foreign_graph_is_inferred_anew) {
  Graph g;
  const Output y = identity(identity(g.constant(1.0)));
  GraphDef copy = g.def();
  for (auto& node : copy.nodes) node.outputs.clear();
  infer_graph(copy);
  BOOST_TEST(copy.type(y.edge).to_string() == "float64[]");
}

BOOST_AUTO_TEST_CASE(all_mistakes_of_a_foreign_graph_are_reported_together) {
  GraphDef graph;
  graph.nodes.push_back(node_of(const_op(), "a"));
  graph.nodes.push_back(node_of(identity_op(), "b", {{3, 0}}));
  graph.nodes.push_back(node_of(no_op(), "b"));
  graph.nodes.push_back(node_of(identity_op(), "c", {{7, 0}}));
  graph.nodes.push_back(node_of(identity_op(), "d", {{2, 0}}));
  graph.nodes.push_back(node_of(no_op(), "e"));
  graph.nodes.back().device = "/job:";
  graph.nodes.push_back(node_of(no_op(), "f"));
  graph.nodes.back().controls = {6};
  BOOST_CHECK_EXCEPTION(
      infer_graph(graph), Error,
      invalid_with({"'a' (Const): attribute 'value' is missing",
                    "'b': its input 'c' is not an earlier node", "two nodes are named 'b'",
                    "'c': its input 7 does not exist", "'d': its input 'b' has no output 0",
                    "'e': device name '/job:'", "'f': its control input 'f' is not an earlier node"}));
}

BOOST_AUTO_TEST_CASE(consequences_of_a_mistake_are_not_reported) {
  GraphDef graph;
  graph.nodes.push_back(node_of(const_op(), "a"));
  graph.nodes.push_back(node_of(identity_op(), "b", {{0, 0}}));
  graph.nodes.push_back(node_of(identity_op(), "c", {{1, 0}}));
  BOOST_CHECK_EXCEPTION(infer_graph(graph), Error, [](const Error& error) {
    return std::string(error.what()).find('\n') == std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(an_extension_refers_to_the_whole_graph) {
  Graph g;
  g.constant(1.0, "x");
  GraphDef graph = g.def();
  extend_graph(graph, {node_of(identity_op(), "y", {{0, 0}}), node_of(identity_op(), "z", {{1, 0}})});
  BOOST_REQUIRE(graph.size() == 3);
  BOOST_TEST(graph.node(2).outputs.at(0).to_string() == "float64[]");
}

BOOST_AUTO_TEST_CASE(an_extension_with_mistakes_names_them_all_and_changes_nothing) {
  Graph g;
  g.constant(1.0, "x");
  GraphDef graph = g.def();
  BOOST_CHECK_EXCEPTION(
      extend_graph(graph, {node_of(identity_op(), "x", {{0, 0}}), node_of(identity_op(), "y", {{9, 0}}),
                           node_of(no_op(), "y")}),
      Error,
      invalid_with({"the graph already has a node 'x'", "'y': its input 9 does not exist",
                    "two nodes are named 'y'"}));
  BOOST_TEST(graph.size() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
