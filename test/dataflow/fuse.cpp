#include "dataflow/transform/fuse.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/graph/core_ops.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(fuse)

using namespace actorflow;
using test::multiply;

namespace {

void infer_as_first_input(InferContext& c) { c.add_output(c.input(0).dtype, c.input(0).shape); }

// (a, b, c) -> a * b + c
const OpDef& multiply_add_op() {
  static const OpDef op{
      .name = "MultiplyAdd", .min_inputs = 3, .max_inputs = 3, .infer = infer_as_first_input};
  return op;
}

// (a, b) -> a * b, round(a * b)
const OpDef& multiply_round_op() {
  static const OpDef op{
      .name = "MultiplyRound", .min_inputs = 2, .max_inputs = 2, .infer = [](InferContext& c) {
        infer_as_first_input(c);
        infer_as_first_input(c);
      }};
  return op;
}

std::optional<Fused> fuse_multiply_add(const FusionContext& graph, NodeId last) {
  if (graph.node(last).op != &add_n_op()) return std::nullopt;
  const auto product = graph.producer(last, 0, "Multiply");
  if (!product) return std::nullopt;
  std::vector<Edge> inputs = graph.node(*product).inputs;
  inputs.push_back(graph.node(last).inputs[1]);
  return Fused{
      .replaced = {*product, last}, .op = &multiply_add_op(), .inputs = inputs, .outputs = {{last, 0}}};
}

std::optional<Fused> fuse_multiply_round(const FusionContext& graph, NodeId last) {
  if (graph.node(last).op->name != "Round") return std::nullopt;
  const auto product = graph.producer(last, 0, "Multiply");
  if (!product) return std::nullopt;
  return Fused{.replaced = {*product, last},
               .op = &multiply_round_op(),
               .inputs = graph.node(*product).inputs,
               .outputs = {{*product, 0}, {last, 0}}};
}

constexpr FusionRule rules[] = {fuse_multiply_add, fuse_multiply_round};

Rewritten fused(const Graph& g) {
  return actorflow::fuse(g.def(), rules, [](const OpDef&, const std::string&) { return true; });
}

Output sum(Output a, Output b) { return a.graph->add(add_n_op(), {a, b}); }
Output rounded(Output a) { return a.graph->add(test::round_op(), {a}); }

NodeId new_id(const Rewritten& rewritten, Output old) {
  return rewritten.new_id[static_cast<std::size_t>(old.edge.node)];
}

// What the node has become.
const Node& now(const Rewritten& rewritten, Output old) {
  return rewritten.graph.node(new_id(rewritten, old));
}

bool is_sorted(const GraphDef& graph) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    for (const Edge input : graph.node(id).inputs)
      if (input.node >= id) return false;
    for (const NodeId before : graph.node(id).controls)
      if (before >= id) return false;
  }
  return true;
}

// A graph with a * b + c, and the parts of it.
struct Example {
  Graph g;
  Output a = g.placeholder(DType::float64, {}, "a"), b = g.placeholder(DType::float64, {}, "b"),
         c = g.placeholder(DType::float64, {}, "c");
};

}  // namespace

BOOST_AUTO_TEST_CASE(one_node_takes_the_place_of_two) {
  Example e;
  const Output product = multiply(e.a, e.b), total = sum(product, e.c), user = rounded(total);
  const Rewritten result = fused(e.g);
  BOOST_TEST(result.graph.size() == 5);
  BOOST_TEST(now(result, total).op == &multiply_add_op());
  BOOST_TEST(new_id(result, product) == new_id(result, total));
  BOOST_TEST(now(result, total).name == product.name());
  BOOST_TEST((now(result, user).inputs == std::vector<Edge>{{new_id(result, total), 0}}));
  BOOST_TEST(
      (now(result, total).inputs ==
       std::vector<Edge>{{new_id(result, e.a), 0}, {new_id(result, e.b), 0}, {new_id(result, e.c), 0}}));
}

BOOST_AUTO_TEST_CASE(a_result_that_somebody_else_takes_is_not_lost) {
  Example e;
  const Output product = multiply(e.a, e.b), total = sum(product, e.c);
  e.g.add(retval_op(), {product}, {{"index", std::int64_t{0}}});
  BOOST_TEST(now(fused(e.g), total).op == &add_n_op());
}

BOOST_AUTO_TEST_CASE(an_op_of_two_outputs_serves_the_users_of_both) {
  Example e;
  const Output product = multiply(e.a, e.b), whole = rounded(product);
  const Output users = e.g.add(add_n_op(), {e.c, product, whole});
  const Rewritten result = fused(e.g);
  const NodeId both = new_id(result, product);
  BOOST_TEST(result.graph.node(both).op == &multiply_round_op());
  BOOST_TEST(
      (now(result, users).inputs == std::vector<Edge>{{new_id(result, e.c), 0}, {both, 0}, {both, 1}}));
}

BOOST_AUTO_TEST_CASE(nothing_is_fused_across_devices) {
  Example e;
  const Output product = e.g.on("/job:a/task:0", [&] { return multiply(e.a, e.b); });
  const Output total = e.g.on("/job:a/task:1", [&] { return sum(product, e.c); });
  BOOST_TEST(now(fused(e.g), total).op == &add_n_op());
}

BOOST_AUTO_TEST_CASE(an_op_without_a_kernel_for_the_device_is_not_used) {
  Example e;
  const Output total = e.g.on("/gpu:0", [&] { return sum(multiply(e.a, e.b), e.c); });
  const Rewritten result =
      actorflow::fuse(e.g.def(), rules, [](const OpDef& op, const std::string& device) {
        return op.name != "MultiplyAdd" || device != "/device:GPU:0";
      });
  BOOST_TEST(now(result, total).op == &add_n_op());
}

BOOST_AUTO_TEST_CASE(what_depends_on_a_part_cannot_be_an_input_of_the_whole) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {});
  const Output ends = g.add(test::neighbours_op(), {x});
  // (product, root) would both come before and after `outside`.
  const Output product = multiply(ends, x);
  const Output outside = g.after({product}, [&] { return g.constant(2.0); });
  const Output root = sum(product, outside);
  BOOST_TEST(now(fused(g), root).op == &add_n_op());
}

BOOST_AUTO_TEST_CASE(two_fusions_that_would_wait_for_each_other_are_not_both_made) {
  Example e;
  const Output first = multiply(e.a, e.b), second = multiply(e.b, e.a);
  const Output one = sum(first, e.c), other = sum(second, e.c);
  e.g.add_control(first, other);
  e.g.add_control(second, one);
  const Rewritten result = fused(e.g);
  BOOST_TEST((now(result, one).op == &multiply_add_op()) !=
             (now(result, other).op == &multiply_add_op()));
  BOOST_TEST(is_sorted(result.graph));
}

BOOST_AUTO_TEST_CASE(control_edges_in_and_out_stay) {
  Example e;
  const Output before = e.g.constant(1.0, "before");
  const Output product = e.g.after({before}, [&] { return multiply(e.a, e.b); });
  const Output behind = e.g.after({product}, [&] { return e.g.constant(2.0, "behind"); });
  const Output total = sum(product, e.c);
  const Rewritten result = fused(e.g);
  BOOST_TEST((now(result, total).controls == std::vector<NodeId>{new_id(result, before)}));
  BOOST_TEST((now(result, behind).controls == std::vector<NodeId>{new_id(result, total)}));
  BOOST_TEST(is_sorted(result.graph));
}

BOOST_AUTO_TEST_CASE(the_result_is_in_topological_order_when_a_late_node_moves_forward) {
  Example e;
  const Output product = multiply(e.a, e.b), early_user = sum(e.c, product);
  const Output late = rounded(product);
  const Rewritten result = fused(e.g);
  BOOST_TEST(now(result, late).op == &multiply_round_op());
  BOOST_TEST((now(result, early_user).inputs[1] == Edge{new_id(result, product), 0}));
  BOOST_TEST(is_sorted(result.graph));
}

BOOST_AUTO_TEST_CASE(a_node_is_fused_once) {
  Example e;
  const Output product = multiply(e.a, e.b);
  rounded(product);
  rounded(product);
  BOOST_TEST(fused(e.g).graph.size() == 5);
}

BOOST_AUTO_TEST_CASE(a_graph_to_which_no_rule_applies_stays_as_it_is) {
  Example e;
  rounded(sum(e.a, e.b));
  const Rewritten result = fused(e.g);
  BOOST_TEST_REQUIRE(result.graph.size() == e.g.def().size());
  for (NodeId id = 0; id < result.graph.size(); ++id) {
    BOOST_TEST(result.graph.node(id).name == e.g.def().node(id).name);
    BOOST_TEST((result.graph.node(id).inputs == e.g.def().node(id).inputs));
  }
}

BOOST_AUTO_TEST_SUITE_END()
