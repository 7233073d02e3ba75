#include <boost/test/unit_test.hpp>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/transform/step_graph.h"
#include "test/dataflow/expect.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(step_graph)

using namespace actorflow;
using test::compute;
using test::invalid_with;
using test::multiply;

BOOST_AUTO_TEST_CASE(feeds_become_args_and_fetches_retvals) {
  Graph g;
  const Output x = g.on("/job:ps/task:0", [&] { return g.placeholder(DType::float64, {}, "x"); });
  const Output y = g.on("/gpu:0", [&] { return multiply(x, x); });
  const auto step = make_step(g.def(), {x.edge}, {y.edge, x.edge}, {});
  BOOST_TEST(step.graph.size() == 4);
  const Node& arg = step.graph.node(step.graph.find("x/arg"));
  BOOST_TEST(arg.op == &arg_op());
  BOOST_TEST(attr<std::int64_t>(arg, "index") == 0);
  BOOST_TEST(arg.outputs[0].to_string() == "float64[]");
  BOOST_TEST(arg.device == "/job:ps/task:0");
  const Node& first = step.graph.node(step.roots.at(0));
  BOOST_TEST(attr<std::int64_t>(first, "index") == 0);
  BOOST_TEST(first.device == "/device:GPU:0");
  BOOST_TEST(compute(step.graph, first.inputs[0], {{step.graph.find("x/arg"), 3.0}}) == 9.0);
  BOOST_TEST(step.graph.node(step.roots.at(1)).inputs[0].node == step.graph.find("x/arg"));
}

BOOST_AUTO_TEST_CASE(any_tensor_can_be_fed_and_what_made_it_does_not_run) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {}, "x");
  const Output square = multiply(x, x);
  const Output y = multiply(square, square);
  const auto step = make_step(g.def(), {square.edge}, {y.edge}, {});
  BOOST_TEST(step.graph.size() == 3);  // Arg, product, Retval: no Placeholder
}

BOOST_AUTO_TEST_CASE(one_output_of_two_can_be_fed) {
  Graph g;
  const Output both = g.add(test::neighbours_op(), {g.constant(5.0)}, {}, "both");
  const Output y = multiply(both, both.output(1));
  const auto step = make_step(g.def(), {both.output(1).edge}, {y.edge}, {});
  const Edge result = step.graph.node(step.roots.at(0)).inputs[0];
  BOOST_TEST(compute(step.graph, result, {{step.graph.find("both/arg"), 10.0}}) == 60.0);
}

BOOST_AUTO_TEST_CASE(what_comes_after_a_fed_node_comes_after_the_feed) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {}, "x");
  const Output done = g.group({x}, "done");
  const auto step = make_step(g.def(), {x.edge}, {}, {done.edge.node});
  BOOST_TEST(
      (step.graph.node(step.roots.at(0)).controls == std::vector<NodeId>{step.graph.find("x/arg")}));
}

BOOST_AUTO_TEST_CASE(targets_run_without_a_result) {
  Graph g;
  const Variable v = g.variable("v", g.constant(1.0));
  g.constant(2.0);
  const auto step = make_step(g.def(), {}, {}, {v.initializer().edge.node});
  BOOST_TEST(step.graph.size() == 2);
  BOOST_TEST(step.graph.node(step.roots.at(0)).op == &assign_variable_op());
}

BOOST_AUTO_TEST_CASE(all_placeholders_that_are_needed_must_be_fed) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {}, "x");
  const Output y = g.placeholder(DType::float64, {}, "y");
  g.placeholder(DType::float32, {-1, 784}, "not_needed");
  const Output z = multiply(x, y);
  BOOST_CHECK_EXCEPTION(
      make_step(g.def(), {}, {z.edge}, {}), Error,
      invalid_with({"node 'x' (Placeholder) must be fed; feed it a tensor of float64[]",
                    "node 'y' (Placeholder) must be fed"}));
  BOOST_CHECK_NO_THROW(make_step(g.def(), {x.edge, y.edge}, {z.edge}, {}));
}

BOOST_AUTO_TEST_CASE(unknown_edges_and_double_feeds_are_refused) {
  Graph g;
  const Output x = g.constant(1.0, "x");
  BOOST_CHECK_EXCEPTION(make_step(g.def(), {x.edge, x.edge}, {}, {}), Error,
                        invalid_with({"'x'", "fed twice"}));
  BOOST_CHECK_EXCEPTION(make_step(g.def(), {}, {x.output(1).edge}, {}), Error,
                        invalid_with({"'x' (Const)", "no output 1"}));
  BOOST_CHECK_EXCEPTION(make_step(g.def(), {}, {}, {5}), Error, invalid_with({"1 nodes", "no node 5"}));
}

BOOST_AUTO_TEST_CASE(names_stay_unique) {
  Graph g;
  const Output x = g.constant(1.0, "x");
  g.constant(1.0, "x/retval");
  auto step = make_step(g.def(), {}, {x.edge, x.edge}, {g.def().find("x/retval")});
  BOOST_CHECK_NO_THROW(infer_graph(step.graph));
}

BOOST_AUTO_TEST_SUITE_END()
