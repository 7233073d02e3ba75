#include <boost/test/unit_test.hpp>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/transform/optimise.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(optimise)

using namespace actorflow;
using test::compute;
using test::evaluate;
using test::multiply;

BOOST_AUTO_TEST_CASE(prune_keeps_inputs_and_controls_of_the_roots) {
  Graph g;
  const Output unused = g.constant(1.0, "unused"), a = g.constant(2.0, "a"), b = g.constant(3.0, "b");
  const Output c = g.after({a}, [&] { return multiply(b, b); });
  const auto pruned = prune(g.def(), {c.edge.node});
  BOOST_TEST(pruned.graph.size() == 3);
  BOOST_TEST(pruned.new_id[static_cast<std::size_t>(unused.edge.node)] == -1);
  const NodeId root = pruned.new_id[static_cast<std::size_t>(c.edge.node)];
  BOOST_TEST((pruned.graph.node(root).controls == std::vector<NodeId>{pruned.graph.find("a")}));
  BOOST_TEST(compute(pruned.graph, {root, 0}) == 9.0);
}

BOOST_AUTO_TEST_CASE(equal_computations_are_merged_through_their_consumers) {
  Graph g;
  const Output x = multiply(g.constant(2.0), g.constant(3.0));
  const Output y = multiply(g.constant(2.0), g.constant(3.0));
  const Output sum = g.add(add_n_op(), {x, y});
  const auto merged = common_subexpressions(g.def());
  BOOST_TEST(merged.graph.size() == 4);
  const auto id = [&merged](Output o) { return merged.new_id[static_cast<std::size_t>(o.edge.node)]; };
  BOOST_TEST(id(x) == id(y));
  BOOST_TEST(compute(merged.graph, {id(sum), 0}) == 12.0);
}

BOOST_AUTO_TEST_CASE(what_differs_is_not_merged) {
  Graph g;
  const Output two = g.constant(2.0), three = g.constant(3.0);
  multiply(two, three);
  multiply(three, two);
  g.on("/gpu:0", [&] { multiply(two, three); });
  g.after({two}, [&] { multiply(two, three); });
  g.constant(2.0F);
  g.constant(Tensor::of<double>({1}, {2.0}));
  BOOST_TEST(common_subexpressions(g.def()).graph.size() == g.def().size());
}

BOOST_AUTO_TEST_CASE(state_and_what_is_fed_is_not_merged) {
  Graph g;
  for (int i = 0; i < 2; ++i) {
    g.placeholder(DType::float64, {});
    g.add(is_initialized_op(), {}, {{"variable", "w"}});
  }
  BOOST_TEST(common_subexpressions(g.def()).graph.size() == 4);
}

BOOST_AUTO_TEST_CASE(large_constants_are_merged_only_if_they_share_their_bytes) {
  Graph g;
  const auto large = Tensor::zeros(DType::float64, {1000});
  g.constant(large);
  g.constant(large);
  g.constant(large.clone());
  BOOST_TEST(common_subexpressions(g.def()).graph.size() == 2);
}

BOOST_AUTO_TEST_CASE(what_depends_on_constants_only_is_folded) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {});
  const Output six = g.on("/gpu:0", [&] { return multiply(g.constant(2.0), g.constant(3.0)); });
  const Output both = multiply(multiply(six, six), x);
  const auto folded = fold_constants(g.def(), evaluate);
  const Node& constant = folded.graph.node(folded.graph.node(both.edge.node).inputs[0].node);
  BOOST_TEST(constant.op == &const_op());
  BOOST_TEST(attr<Tensor>(constant, "value").scalar<double>() == 36.0);
  const Node& first = folded.graph.node(six.edge.node);
  BOOST_TEST(first.name == six.name());
  BOOST_TEST(first.device == "/device:GPU:0");
  BOOST_TEST(folded.graph.node(both.edge.node).op == &test::multiply_op());
}

BOOST_AUTO_TEST_CASE(ordered_nodes_and_those_that_fail_are_not_folded) {
  Graph g;
  const Output two = g.constant(2.0);
  const Output ordered = g.after({two}, [&] { return multiply(two, two); });
  const Output failing = multiply(two, two);
  const auto folded =
      fold_constants(g.def(), [](const Node&, const std::vector<Tensor>&) -> std::vector<Tensor> {
        throw Error(Code::unimplemented, "no kernel");
      });
  BOOST_TEST(folded.graph.node(failing.edge.node).op == &test::multiply_op());
  const auto by_kernel = fold_constants(g.def(), evaluate);
  BOOST_TEST(by_kernel.graph.node(ordered.edge.node).op == &test::multiply_op());
}

BOOST_AUTO_TEST_CASE(large_results_are_not_folded) {
  Graph g;
  const auto elements = static_cast<std::int64_t>(max_folded_bytes / sizeof(double)) + 1;
  const Output large = g.add(identity_op(), {g.constant(Tensor::zeros(DType::float64, {elements}))});
  const auto folded = fold_constants(g.def(), evaluate);
  BOOST_TEST(folded.graph.node(large.edge.node).op == &identity_op());
}

BOOST_AUTO_TEST_CASE(an_optimised_step_gives_the_same_fetches) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {}, "x");
  const Output a = multiply(x, multiply(g.constant(2.0), g.constant(3.0)));
  const Output b = multiply(x, multiply(g.constant(2.0), g.constant(3.0)));
  const GraphDef best =
      actorflow::optimise(make_step(g.def(), {x.edge}, {a.edge, b.edge}, {}), evaluate);
  BOOST_TEST(best.size() == 5);  // Arg, 6, one product, two Retvals
  const NodeId arg = best.find("x/arg");
  for (const auto& node : best.nodes) {
    if (node.op == &retval_op()) BOOST_TEST(compute(best, node.inputs[0], {{arg, 7.0}}) == 42.0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
