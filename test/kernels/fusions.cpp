// The built-in fusion rules: which nodes of a training step they replace, and that not a bit changes.
#include "kernels/core/fusions.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/random_values.h"

BOOST_AUTO_TEST_SUITE(fusions)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A perceptron on constants: its loss, its gradients and what else is fetched, each through an Identity.
struct Perceptron {
  explicit Perceptron(std::int64_t batch) {
    x = graph.constant(random_values({batch, 20}, 1));
    weights = {graph.constant(random_values({20, 33}, 2)), graph.constant(random_values({33, 7}, 3))};
    biases = {graph.constant(random_values({33}, 4)), graph.constant(random_values({7}, 5))};
    product = matmul(x, weights[0]);
    hidden = relu(bias_add(product, biases[0]));
    logits = bias_add(matmul(hidden, weights[1]), biases[1]);
    Tensor labels = Tensor::allocate(DType::int64, {batch});
    for (std::int64_t i = 0; i < batch; ++i)
      labels.mutable_values<std::int64_t>()[static_cast<std::size_t>(i)] = i * i % 7;
    losses = softmax_cross_entropy(logits, graph.constant(labels));
    loss = mean(losses);
  }

  void fetch(Output output) { fetches.push_back(identity(output)); }
  void fetch_gradients() {
    for (const Output& g : gradients(loss, {weights[0], weights[1], biases[0], biases[1]})) fetch(g);
  }

  Graph graph;
  Output x, product, hidden, logits, losses, loss;
  std::vector<Output> weights, biases, fetches;
};

// A graph and the nodes that are fetched from it.
struct Step {
  GraphDef graph;
  std::vector<NodeId> fetches;
};

Step after(const Step& step, Rewritten rewritten) {
  Step result{std::move(rewritten.graph), {}};
  for (const NodeId id : step.fetches)
    result.fetches.push_back(rewritten.new_id[static_cast<std::size_t>(id)]);
  return result;
}

// What the fetches need, as it is and fused.
Step plain(const Perceptron& p) {
  Step step{p.graph.def(), {}};
  for (const Output& fetch : p.fetches) step.fetches.push_back(fetch.edge.node);
  return after(step, prune(step.graph, step.fetches));
}

Step fused(const Perceptron& p) {
  const Step step = plain(p);
  return after(
      step, fuse(step.graph, builtin_fusions(), [](const OpDef&, const std::string&) { return true; }));
}

std::vector<Tensor> run(Perceptron& p, const Step& step) {
  std::vector<Output> fetches;
  for (const NodeId id : step.fetches) fetches.push_back({&p.graph, {id, 0}});
  return interpret(step.graph, {}, fetches);
}

using Ops = std::multiset<std::string_view>;

Ops ops_of(const Step& step) {
  Ops ops;
  for (const Node& node : step.graph.nodes)
    if (node.op != &const_op() && node.op != &identity_op()) ops.insert(node.op->name);
  return ops;
}

// Every fetch of the fused graph has the bits of the graph as it was.
void check_same_bits(Perceptron& p) {
  const auto expected = run(p, plain(p)), actual = run(p, fused(p));
  for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(identical(actual[i], expected[i]));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_training_step_becomes_eight_nodes) {
  Perceptron p(64);
  p.fetch(p.loss);
  p.fetch_gradients();
  const Ops expected{"BiasAddGrad", "FusedMatMul", "FusedMatMul",  "MatMul",
                     "MatMul",      "MatMul",      "ReluBiasGrad", "MeanSparseSoftmaxCrossEntropy"};
  BOOST_TEST(ops_of(fused(p)) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_fused_step_has_the_bits_of_the_plain_one) {
  for (const std::int64_t batch : {1, 50, 64, 300}) {
    Perceptron p(batch);
    p.fetch(p.loss);
    p.fetch(p.hidden);
    p.fetch_gradients();
    check_same_bits(p);
  }
}

BOOST_AUTO_TEST_CASE(gradients_alone_are_fused_without_the_mean) {
  Perceptron p(10);
  p.fetch_gradients();
  BOOST_TEST(ops_of(fused(p)).contains("MeanSparseSoftmaxCrossEntropy"));
  check_same_bits(p);
}

BOOST_AUTO_TEST_CASE(what_is_fetched_on_the_way_is_not_fused_away) {
  Perceptron p(10);
  p.fetch(p.product);
  p.fetch(p.losses);
  p.fetch(p.loss);
  p.fetch_gradients();
  const Ops ops = ops_of(fused(p));
  BOOST_TEST(ops.count("FusedMatMul") == 1U);
  BOOST_TEST(ops.contains("Relu"));
  BOOST_TEST(ops.contains("SparseSoftmaxCrossEntropy"));
  check_same_bits(p);
}

BOOST_AUTO_TEST_CASE(a_gradient_that_depends_on_the_mean_itself_is_left_alone) {
  Perceptron p(10);
  p.loss = square(p.loss);
  p.fetch(p.loss);
  p.fetch_gradients();
  BOOST_TEST(ops_of(fused(p)).contains("SparseSoftmaxCrossEntropy"));
  check_same_bits(p);
}

BOOST_AUTO_TEST_CASE(nan_goes_through_a_fused_layer) {
  Graph g;
  const Output x = g.constant(Tensor::of<float>({1, 1}, {std::nanf("")}));
  const Output one = g.constant(Tensor::of<float>({1, 1}, {1})),
               bias = g.constant(Tensor::of<float>({1}, {0}));
  const Output y = g.add(builtin_ops().def("FusedMatMul"), {x, one, bias}, {{"relu", true}});
  BOOST_TEST(std::isnan(value_of(y).scalar<float>()));
}

BOOST_AUTO_TEST_SUITE_END()
