#include <boost/test/unit_test.hpp>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/gradient.h"
#include "test/dataflow/expect.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(gradient, *boost::unit_test::tolerance(1e-12))

using namespace actorflow;
using test::compute;
using test::invalid_with;
using test::multiply;

namespace {

Output add(Output a, Output b) { return a.graph->add(add_n_op(), {a, b}); }

Output scalar(Graph& g, std::string_view name) { return g.placeholder(DType::float64, {}, name); }

}  // namespace

BOOST_AUTO_TEST_CASE(chain_rule_on_a_product) {
  Graph g;
  const Output x = scalar(g, "x"), y = scalar(g, "y");
  const Output loss = multiply(multiply(x, x), y);  // x^2 y
  const auto d = gradients(loss, {x, y});
  const std::map<NodeId, double> at = {{x.edge.node, 3.0}, {y.edge.node, 5.0}};
  BOOST_TEST(compute(d[0], at) == 30.0);
  BOOST_TEST(compute(d[1], at) == 9.0);
}

BOOST_AUTO_TEST_CASE(contributions_of_several_consumers_add_up) {
  Graph g;
  const Output x = scalar(g, "x");
  const Output square = multiply(x, x);
  const Output loss = add(add(square, x), multiply(square, x));  // x^2 + x + x^3
  const auto d = gradients(loss, {x, square});
  const std::map<NodeId, double> at = {{x.edge.node, 2.0}};
  BOOST_TEST(compute(d[0], at) == 4.0 + 1.0 + 12.0);
  BOOST_TEST(compute(d[1], at) == 1.0 + 2.0);
}

BOOST_AUTO_TEST_CASE(agrees_with_finite_differences) {
  Graph g;
  const Output x = scalar(g, "x");
  Output y = x;
  for (int i = 0; i < 6; ++i) y = add(multiply(y, x), g.constant(0.5));
  const double dx = 1e-5, at = 0.9;
  const auto value = [&](double point) { return compute(y, {{x.edge.node, point}}); };
  const double expected = (value(at + dx) - value(at - dx)) / (2 * dx);
  const double actual = compute(gradients(y, {x})[0], {{x.edge.node, at}});
  BOOST_TEST(actual == expected, boost::test_tools::tolerance(1e-8));
}

BOOST_AUTO_TEST_CASE(every_output_of_a_node_passes_its_gradient) {
  Graph g;
  const Output x = scalar(g, "x");
  const Output both = g.add(test::neighbours_op(), {x});
  const std::map<NodeId, double> at = {{x.edge.node, 3.0}};
  const Output product = multiply(both, both.output(1));  // (x + 1)(x - 1)
  BOOST_TEST(compute(gradients(product, {x})[0], at) == 6.0);
  const Output one_of_them = multiply(both.output(1), both.output(1));  // (x - 1)^2
  BOOST_TEST(compute(gradients(one_of_them, {x})[0], at) == 4.0);
}

BOOST_AUTO_TEST_CASE(the_gradient_of_the_loss_itself_is_one) {
  Graph g;
  const Output x = scalar(g, "x");
  BOOST_TEST(compute(gradients(x, {x})[0]) == 1.0);
}

BOOST_AUTO_TEST_CASE(unreachable_targets_get_an_empty_output) {
  Graph g;
  const Output x = scalar(g, "x"), elsewhere = scalar(g, "elsewhere");
  const Output loss = multiply(x, g.add(test::round_op(), {elsewhere}));
  const Output later = multiply(loss, loss);
  const auto d = gradients(loss, {x, elsewhere, later});
  BOOST_TEST(static_cast<bool>(d[0]));
  BOOST_TEST(!d[1]);
  BOOST_TEST(!d[2]);
}

BOOST_AUTO_TEST_CASE(only_nodes_between_loss_and_targets_are_differentiated) {
  Graph g;
  const Output x = scalar(g, "x"), y = scalar(g, "y");
  Output beside = y;
  for (int i = 0; i < 10; ++i) beside = multiply(beside, y);
  const Output loss = multiply(x, beside);
  const auto before = g.def().size();
  gradients(loss, {x});
  BOOST_TEST(g.def().size() - before <= 3);  // one, and the two sides of the last product
}

BOOST_AUTO_TEST_CASE(gradient_nodes_are_beside_their_forward_nodes) {
  Graph g;
  const Output x = g.on("/job:ps/task:0", [&] { return scalar(g, "x"); });
  const Output loss = g.on("/job:worker/task:1", [&] { return multiply(multiply(x, x), x); });
  const Output d = gradients(loss, {x})[0];
  BOOST_TEST(d.node().device == "/job:worker/task:1");
  BOOST_TEST(d.name().starts_with("gradients/"));
}

namespace {

// A table of 5, and two lookups in it.
struct Lookups {
  Graph g;
  Variable table = g.variable("table", g.constant(Tensor::zeros(DType::float64, {5})));
  Output a = g.placeholder(DType::int64, {3}, "a"), b = g.placeholder(DType::int64, {-1}, "b");
  Output loss_a = test::total(test::gather(table, a)), loss_b = test::total(test::gather(table, b));
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_gradient_of_a_lookup_is_sparse) {
  Lookups l;
  const auto slices = indexed_slices(gradients(l.loss_a, {l.table})[0]);
  BOOST_TEST_REQUIRE(slices.size() == 1U);
  BOOST_TEST((slices[0].indices.edge == l.a.edge));
  BOOST_TEST(slices[0].values.type().to_string() == "float64[3]");
}

BOOST_AUTO_TEST_CASE(a_sum_of_sparse_gradients_is_all_of_them) {
  Lookups l;
  const auto slices = indexed_slices(gradients(add(l.loss_a, l.loss_b), {l.table})[0]);
  BOOST_TEST_REQUIRE(slices.size() == 2U);
  BOOST_TEST(slices[0].indices.edge.node + slices[1].indices.edge.node == l.a.edge.node + l.b.edge.node);
}

BOOST_AUTO_TEST_CASE(a_sum_of_sparse_and_dense_gradients_is_dense) {
  Lookups l;
  const Output d = gradients(add(l.loss_a, test::total(l.table)), {l.table})[0];
  BOOST_TEST(indexed_slices(d).empty());
  BOOST_TEST(d.type().to_string() == "float64[5]");
}

BOOST_AUTO_TEST_CASE(bad_losses_are_refused) {
  Graph g, other;
  const Output matrix = g.placeholder(DType::float32, {2, -1}, "matrix");
  BOOST_CHECK_EXCEPTION(gradients(matrix, {matrix}), Error,
                        invalid_with({"'matrix'", "float32[2,?]", "mean()"}));
  const Output count = g.constant(1, "count");
  BOOST_CHECK_EXCEPTION(gradients(count, {count}), Error, invalid_with({"'count'", "int32[]"}));
  BOOST_CHECK_EXCEPTION(gradients({}, {}), Error, invalid_with({"empty Output"}));
  const Output loss = g.constant(1.0, "loss");
  BOOST_CHECK_EXCEPTION(gradients(loss, {other.constant(1.0)}), Error,
                        invalid_with({"target 0", "another graph"}));
}

// x^2 y in two parts, of which the second one knows only x^2.
BOOST_AUTO_TEST_CASE(parts_of_a_chain_give_the_gradients_of_the_whole) {
  Graph g;
  const Output x = scalar(g, "x"), y = scalar(g, "y"), arriving = scalar(g, "arriving");
  const Output square = multiply(x, x);
  const Output loss = multiply(square, y);
  const auto back = gradients({loss}, {arriving}, {square, y});
  const auto front = gradients({square}, {back[0]}, {x});
  const std::map<NodeId, double> at = {
      {x.edge.node, 3.0}, {y.edge.node, 5.0}, {arriving.edge.node, 2.0}};
  BOOST_TEST(compute(front[0], at) == 2 * 30.0);
  BOOST_TEST(compute(back[1], at) == 2 * 9.0);
}

BOOST_AUTO_TEST_CASE(nothing_flows_from_one_end_of_a_part_to_another) {
  Graph g;
  const Output x = scalar(g, "x"), one = scalar(g, "one");
  const Output square = multiply(x, x);
  const Output loss = add(multiply(square, x), square);  // x^3 + x^2
  const auto d = gradients({loss, loss}, {one, one}, {x, square});
  const std::map<NodeId, double> at = {{x.edge.node, 3.0}, {one.edge.node, 1.0}};
  BOOST_TEST(compute(d[0], at) == 2 * 9.0);
  BOOST_TEST(compute(d[1], at) == 2 * (3.0 + 1.0));
}

BOOST_AUTO_TEST_CASE(a_gradient_of_another_type_than_its_output_is_refused) {
  Graph g;
  const Output x = scalar(g, "x");
  const Output wrong = g.placeholder(DType::float32, {}, "wrong");
  BOOST_CHECK_EXCEPTION(gradients({multiply(x, x)}, {wrong}, {x}), Error,
                        invalid_with({"is float64[], but its gradient is float32[]"}));
  BOOST_CHECK_EXCEPTION(gradients({x}, {}, {x}), Error,
                        invalid_with({"a gradient for each, got 1 and 0"}));
}

BOOST_AUTO_TEST_SUITE_END()
