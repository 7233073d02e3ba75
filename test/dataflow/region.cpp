#include "dataflow/transform/region.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

#include "dataflow/graph/core_ops.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(region)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const std::string gpu = "/job:local/task:0/device:GPU:0", cpu = "/job:local/task:0/device:CPU:0";

bool on_gpu(const Node& node) { return node.device == gpu; }

Output sum(Output a, Output b) { return a.graph->add(add_n_op(), {a, b}); }

// What the tests compute with is constant, so that a region's inputs are placeholders.
std::vector<std::string> names_in(const Region& region) {
  std::vector<std::string> names;
  for (const Node& node : region.body.nodes)
    if (node.op != &arg_op()) names.push_back(node.name);
  return names;
}

// The outputs of a node: of a region those of its body, for these inputs.
std::vector<double> outputs_of(const GraphOfRegions& whole, const Node& node,
                               const std::vector<double>& inputs) {
  std::vector<double> results;
  if (node.op == &region_op()) {
    const Region& region =
        whole.regions.at(static_cast<std::size_t>(attr<std::int64_t>(node, "region")));
    std::map<NodeId, double> given;
    for (std::size_t i = 0; i < inputs.size(); ++i) given[static_cast<NodeId>(i)] = inputs[i];
    for (const Edge output : region.outputs) results.push_back(compute(region.body, output, given));
    return results;
  }
  std::vector<Tensor> tensors;
  for (const double input : inputs) tensors.push_back(Tensor::scalar(input));
  for (const Tensor& tensor : evaluate(node, tensors)) results.push_back(tensor.scalar<double>());
  return results;
}

// What is fetched, in the order of fetch().
std::vector<double> run(const GraphOfRegions& whole, const std::map<std::string, double>& feeds) {
  std::vector<std::vector<double>> values;
  std::map<std::int64_t, double> fetched;
  for (const Node& node : whole.graph.nodes) {
    std::vector<double> inputs;
    for (const Edge edge : node.inputs) {
      BOOST_TEST_REQUIRE(static_cast<std::size_t>(edge.node) < values.size());  // in topological order
      inputs.push_back(
          values[static_cast<std::size_t>(edge.node)].at(static_cast<std::size_t>(edge.output)));
    }
    for (const NodeId before : node.controls)
      BOOST_TEST_REQUIRE(static_cast<std::size_t>(before) < values.size());
    if (node.op == &placeholder_op())
      values.push_back({feeds.at(node.name)});
    else if (node.op == &retval_op() || node.op == &no_op())
      values.emplace_back();
    else
      values.push_back(outputs_of(whole, node, inputs));
    if (node.op == &retval_op()) fetched[attr<std::int64_t>(node, "index")] = inputs[0];
  }
  std::vector<double> results;
  for (const auto& entry : fetched) results.push_back(entry.second);
  return results;
}

void fetch(Output output) {
  Graph& g = *output.graph;
  g.add(retval_op(), {output}, {{"index", std::int64_t{g.def().size()}}});
}

}  // namespace

BOOST_AUTO_TEST_CASE(nodes_that_hang_together_become_one_with_their_constants) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {}, "x");
  const Output y = g.on(gpu, [&] {
    const Output two = g.constant(2.0, "two");
    return sum(multiply(x, two), multiply(x, x));
  });
  fetch(y);
  const auto formed = form_regions(g.def(), on_gpu);
  BOOST_TEST_REQUIRE(formed.regions.size() == 1U);
  const std::vector<std::string> expected{"two", "Multiply", "Multiply_1", "AddN"};
  BOOST_TEST(names_in(formed.regions[0]) == expected, boost::test_tools::per_element());
  const Node& node = formed.graph.node(formed.graph.find("Multiply"));
  BOOST_TEST((node.op == &region_op()));
  BOOST_TEST(node.device == gpu);
  BOOST_TEST(node.inputs.size() == 1U);  // x, once
  BOOST_TEST((node.outputs == std::vector{y.type()}));
  BOOST_TEST(formed.graph.size() == 3);
  BOOST_TEST(run(formed, {{"x", 3}}) == std::vector{15.0}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_waits_for_another_device_is_another_region) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {}, "x");
  const Output a = g.on(gpu, [&] { return multiply(multiply(x, x), x); });
  const Output b = g.on(cpu, [&] { return multiply(a, x); });
  // Not in the region of `a`, which it needs, though that region does not wait for it.
  fetch(g.on(gpu, [&] { return sum(multiply(a, b), a); }));
  const auto formed = form_regions(g.def(), on_gpu);
  BOOST_TEST(formed.regions.size() == 2U);
  BOOST_TEST(run(formed, {{"x", 2}}) == std::vector{8.0 * 16 + 8}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(nodes_without_a_way_between_them_stay_apart) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {}, "x"), y = g.placeholder(DType::float64, {}, "y");
  for (const Output& input : {x, y})
    fetch(g.on(gpu, [&] { return multiply(multiply(input, input), input); }));
  BOOST_TEST(form_regions(g.def(), on_gpu).regions.size() == 2U);
}

BOOST_AUTO_TEST_CASE(what_may_not_join_and_what_is_alone_stays_as_it_is) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {}, "x");
  const Output kept = g.on(gpu, [&] { return multiply(x, x); });
  const Output moved = g.on(cpu, [&] { return multiply(multiply(kept, x), x); });
  fetch(moved);
  const auto formed = form_regions(g.def(), on_gpu);
  BOOST_TEST(formed.regions.empty());
  BOOST_TEST(formed.graph.size() == g.def().size());
}

BOOST_AUTO_TEST_CASE(a_region_runs_after_what_its_nodes_run_after_and_before_what_waits_for_them) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {}, "x");
  const Output before = g.add(no_op(), {}, {}, "before");
  const Output inside = g.on(gpu, [&] { return multiply(x, x); });
  const Output y = g.on(gpu, [&] { return multiply(inside, x); });
  g.add_control(before, inside);
  g.add_control(inside, y);
  g.group({inside}, "after");
  fetch(y);
  const auto formed = form_regions(g.def(), on_gpu);
  BOOST_TEST_REQUIRE(formed.regions.size() == 1U);
  const NodeId node = formed.graph.find("Multiply");
  BOOST_TEST(formed.graph.node(node).controls == std::vector{formed.graph.find("before")},
             boost::test_tools::per_element());
  BOOST_TEST(formed.graph.node(formed.graph.find("after")).controls == std::vector{node},
             boost::test_tools::per_element());
  BOOST_TEST(run(formed, {{"x", 2}}) == std::vector{8.0}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_constant_that_others_use_too_is_an_input) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {}, "x");
  const Output two = g.on(gpu, [&] { return g.constant(2.0, "two"); });
  fetch(g.on(gpu, [&] { return multiply(multiply(x, two), two); }));
  fetch(two);
  const auto formed = form_regions(g.def(), on_gpu);
  BOOST_TEST_REQUIRE(formed.regions.size() == 1U);
  BOOST_TEST(formed.graph.node(formed.graph.find("Multiply")).inputs.size() == 2U);
  const std::vector<double> expected{12, 2};
  BOOST_TEST(run(formed, {{"x", 3}}) == expected, boost::test_tools::per_element());
}

// Graphs drawn at random give the same results, and nothing waits in a circle: run() would notice.
BOOST_AUTO_TEST_CASE(any_graph_computes_what_it_did) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&random](std::size_t below) { return random() % below; };
    Graph g;
    std::vector<Output> tensors{g.placeholder(DType::float64, {}, "x")};
    for (int i = 0; i < 30; ++i) {
      const Output a = tensors[draw(tensors.size())], b = tensors[draw(tensors.size())];
      g.on(draw(4) == 0   ? cpu
           : draw(6) == 0 ? "/device:GPU:1"
                          : gpu,
           [&] {
             if (draw(8) == 0) return tensors.push_back(g.constant(0.5));
             if (draw(8) == 0) return tensors.push_back(g.add(neighbours_op(), {a}).output(1));
             tensors.push_back(draw(2) == 0 ? multiply(a, b) : sum(a, b));
           });
      if (draw(5) == 0 && a.edge.node < tensors.back().edge.node) g.add_control(a, tensors.back());
    }
    for (int i = 0; i < 3; ++i) fetch(tensors[draw(tensors.size())]);
    const auto plain = form_regions(g.def(), [](const Node&) { return false; });
    const auto formed = form_regions(
        g.def(), [](const Node& node) { return node.device.find("GPU") != std::string::npos; });
    BOOST_TEST_CONTEXT("seed " << seed)
    BOOST_TEST(run(formed, {{"x", 0.75}}) == run(plain, {{"x", 0.75}}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()
