// Products of less than float32's precision: which nodes have it, and what a CPU makes of it.
#include "dataflow/graph/precision.h"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "dataflow/transform/fuse.h"
#include "kernels/core/fusions.h"
#include "kernels/ops.h"
#include "kernels/products/bfloat16.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/random_values.h"

BOOST_AUTO_TEST_SUITE(precision)

using namespace actorflow;
using namespace actorflow::test;

namespace {

std::uint16_t rounded(float value) {
  std::uint16_t result = 0;
  round_to_bf16(&value, 1, &result);
  return result;
}

float widened(std::uint16_t value) { return std::bit_cast<float>(std::uint32_t{value} << 16U); }

Tensor rounded(const Tensor& tensor) {
  Tensor result = tensor.clone();
  for (float& value : result.mutable_values<float>()) value = widened(rounded(value));
  return result;
}

Tensor product(const Tensor& a, const Tensor& b, Precision precision) {
  Graph g;
  return g.precision(precision,
                     [&] { return value_of(actorflow::matmul(g.constant(a), g.constant(b))); });
}

double distance(const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.values<float>().size(); ++i)
    largest = std::max(largest, std::abs(double{a.values<float>()[i]} - double{b.values<float>()[i]}));
  return largest;
}

// A convolution, a dense layer and products of batches, of that precision.
Output model(Graph& g, Precision precision) {
  return g.precision(precision, [&] {
    const Output images = g.constant(random_values({2, 4, 4, 3}, 1));
    const Output convolved = fused_conv2d(conv2d(images, g.constant(random_values({3, 3, 3, 4}, 2))),
                                          g.constant(random_values({3, 3, 4, 4}, 3)),
                                          g.constant(random_values({4}, 4)), true);
    const Output rows = reshape(convolved, {8, 16});
    const Output dense = relu(bias_add(actorflow::matmul(rows, g.constant(random_values({16, 16}, 5))),
                                       g.constant(random_values({16}, 6))));
    const Output heads = reshape(dense, {2, 4, 16});
    return sum(batch_matmul(heads, heads, false, true));
  });
}

std::vector<Output> constants_of(Graph& g) {
  std::vector<Output> found;
  for (NodeId id = 0; id < g.def().size(); ++id)
    if (g.def().node(id).op == &const_op() && g.def().node(id).outputs[0].dtype == DType::float32)
      found.push_back({&g, {id, 0}});
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(bfloat16_is_the_nearest_with_ties_to_even) {
  BOOST_TEST(widened(rounded(1.0F)) == 1.0F);
  BOOST_TEST(widened(rounded(1 + 0x1p-8F)) == 1.0F);                          // a tie, down
  BOOST_TEST(widened(rounded(1 + 0x1p-7F + 0x1p-8F)) == 1 + 0x1p-6F);         // a tie, up
  BOOST_TEST(widened(rounded(-(1 + 0x1p-8F + 0x1p-20F))) == -(1 + 0x1p-7F));  // just above one
  BOOST_TEST(widened(rounded(-0.0F)) == 0.0F);
  const float infinity = std::numeric_limits<float>::infinity();
  BOOST_TEST(widened(rounded(-infinity)) == -infinity);
  BOOST_TEST(widened(rounded(std::numeric_limits<float>::max())) == infinity);
  for (const std::uint32_t nan : {0x7F800001U, 0xFFFFFFFFU})
    BOOST_TEST(std::isnan(widened(rounded(std::bit_cast<float>(nan)))));
}

BOOST_AUTO_TEST_CASE(bf16_multiplies_rounded_factors_where_the_cpu_gains_by_it) {
  const Tensor a = random_values({600, 300}, 1), b = random_values({300, 400}, 2);
  const Tensor exact = product(a, b, Precision::float32), actual = product(a, b, Precision::bf16);
  if (!multiplies_bf16_fast()) {
    BOOST_TEST(identical(actual, exact));
    return;
  }
  BOOST_TEST(distance(actual, product(rounded(a), rounded(b), Precision::float32)) < 1e-4);
  BOOST_TEST(distance(actual, exact) > 1e-2);
}

BOOST_AUTO_TEST_CASE(cpus_compute_tf32_exactly_and_so_are_small_products) {
  const Tensor a = random_values({40, 30}, 1), b = random_values({30, 50}, 2);
  BOOST_TEST(identical(product(a, b, Precision::tf32), product(a, b, Precision::float32)));
  const Tensor row = random_values({1, 30}, 3);
  BOOST_TEST(identical(product(row, b, Precision::bf16), product(row, b, Precision::float32)));
}

BOOST_AUTO_TEST_CASE(float64_is_never_rounded) {
  Graph g;
  const Output x = g.constant(Tensor::of<double>({1, 1}, {1 + 0x1p-40}));
  const Output y = g.precision(Precision::bf16, [&] { return actorflow::matmul(x, x); });
  BOOST_TEST(value_of(y).values<double>()[0] == (1 + 0x1p-40) * (1 + 0x1p-40));
}

BOOST_AUTO_TEST_CASE(all_products_of_a_model_and_of_its_gradients_have_the_precision) {
  Graph g;
  const Output loss = model(g, Precision::bf16);
  gradients(loss, constants_of(g));
  std::size_t products = 0;
  for (const Node& node : g.def().nodes) {
    if (!node.attrs.contains("precision")) continue;
    ++products;
    BOOST_TEST_CONTEXT(node.name) BOOST_TEST((precision_of(node) == Precision::bf16));
  }
  BOOST_TEST(products == 4U + 2 * 4U);
}

BOOST_AUTO_TEST_CASE(a_fused_node_has_the_precision_of_its_product) {
  Graph g;
  const Output loss = model(g, Precision::tf32);
  const auto fused =
      fuse(g.def(), builtin_fusions(), [](const OpDef&, const std::string&) { return true; });
  const NodeId id = fused.graph.find("MatMul");
  BOOST_TEST(fused.graph.node(id).op->name == "FusedMatMul");
  BOOST_TEST((precision_of(fused.graph.node(id)) == Precision::tf32));
  BOOST_TEST(loss.node().op->name == "Sum");
}

BOOST_AUTO_TEST_CASE(an_unknown_precision_is_refused_by_every_product) {
  Graph g;
  const Output matrix = g.constant(random_values({4, 4}, 1));
  const Output images = g.constant(random_values({1, 4, 4, 4}, 2));
  for (const auto* name : {"MatMul", "BatchMatMul"})
    BOOST_CHECK_THROW(
        g.add(builtin_ops().def(name), {matrix, matrix}, {{"precision", std::string("fp8")}}), Error);
  BOOST_CHECK_THROW(
      g.add(builtin_ops().def("Conv2D"), {images, images}, {{"precision", std::string("fp8")}}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
