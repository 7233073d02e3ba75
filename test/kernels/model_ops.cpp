// What the op table does not say of layer normalisation, batches of matrices and gelu.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/core/kernel.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/names.h"

BOOST_AUTO_TEST_SUITE(model_ops)

using namespace actorflow;

namespace {

using test::names;
using test::value_of;

std::vector<float> values_of(Output output) {
  const Tensor tensor = value_of(output);
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

Output row(Graph& graph, const std::vector<float>& values) {
  return graph.constant(Tensor::of({1, static_cast<std::int64_t>(values.size())}, values));
}

Output normalised(Output x, double epsilon) {
  const std::int64_t columns = x.shape()[x.shape().rank() - 1];
  return layer_norm(x, fill(*x.graph, {columns}, 1), fill(*x.graph, {columns}, 0), epsilon);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_large_mean_does_not_disturb_normalisation) {
  Graph graph;
  const auto y = values_of(normalised(row(graph, {1e4F - 1, 1e4F, 1e4F + 1, 1e4F}), 0));
  const float root = std::sqrt(2.0F);
  for (std::size_t i = 0; i < y.size(); ++i)
    BOOST_TEST(std::abs(y[i] - std::vector{-root, 0.0F, root, 0.0F}[i]) < 1e-5);
}

BOOST_AUTO_TEST_CASE(a_constant_row_is_normalised_to_zero) {
  Graph graph;
  BOOST_TEST(values_of(normalised(row(graph, {3, 3, 3}), 0.001)) == (std::vector{0.0F, 0.0F, 0.0F}));
}

BOOST_AUTO_TEST_CASE(layer_norm_names_what_does_not_fit) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {4, 10});
  const auto values = [&](std::int64_t count) { return graph.placeholder(DType::float32, {count}); };
  BOOST_CHECK_EXCEPTION(layer_norm(x, values(9), values(10)), Error,
                        [](const Error& e) { return names(e, "one value per column"); });
  BOOST_CHECK_THROW(layer_norm(x, values(10), values(11)), Error);
  BOOST_CHECK_THROW(layer_norm(x, values(10), values(10), -1), Error);
  BOOST_CHECK_THROW(layer_norm(values(10), graph.placeholder(DType::int32, {10}), values(10)), Error);
}

BOOST_AUTO_TEST_CASE(a_batch_equals_its_matrices_one_by_one) {
  Graph graph;
  const Output a = random_normal(graph, {3, 20, 30}, 0, 1, 1),
               b = random_normal(graph, {30, 7}, 0, 1, 2);
  const auto batch = values_of(batch_matmul(a, b));
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto one =
        values_of(actorflow::matmul(reshape(slice(a, {i, 0, 0}, {1, -1, -1}), {20, 30}), b));
    for (std::size_t j = 0; j < one.size(); ++j)
      BOOST_TEST_REQUIRE(std::abs(batch[static_cast<std::size_t>(i) * one.size() + j] - one[j]) < 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(batches_that_do_not_fit_are_named) {
  Graph graph;
  const auto of = [&](const Shape& shape) { return graph.placeholder(DType::float32, shape); };
  BOOST_CHECK_EXCEPTION(batch_matmul(of({2, 3, 4}), of({2, 3, 4})), Error,
                        [](const Error& e) { return names(e, "inner dimensions"); });
  BOOST_CHECK_EXCEPTION(batch_matmul(of({2, 3, 4}), of({3, 4, 5})), Error,
                        [](const Error& e) { return names(e, "broadcast"); });
  BOOST_CHECK_EXCEPTION(batch_matmul(of({4}), of({4, 5})), Error,
                        [](const Error& e) { return names(e, "two or more"); });
  BOOST_TEST(batch_matmul(of({Shape::unknown, 3, 4}), of({4, 5})).type().to_string() ==
             "float32[?,3,5]");
}

// A graph that another program made may hold the gradient with any inputs.
BOOST_AUTO_TEST_CASE(the_gradient_of_attention_names_the_input_that_does_not_fit) {
  Graph graph;
  const auto of = [&](const Shape& shape) { return graph.placeholder(DType::float32, shape); };
  const Output query = of({2, 5, 3, 4}), key = of({2, 7, 3, 4}), rows = of({2, 5, 3});
  const std::vector<Output> fitting{query, query, key, key, query, rows, rows};
  const OpDef& op = builtin_ops().def("DotProductAttentionGrad");
  graph.add(op, fitting);
  for (const auto& [input, shape] : {std::pair(0, Shape{2, 6, 3, 4}), std::pair(4, Shape{2, 5, 3, 9}),
                                     std::pair(5, Shape{2, 5, 3, 4}), std::pair(6, Shape{2, 5, 1})}) {
    std::vector<Output> inputs = fitting;
    inputs[static_cast<std::size_t>(input)] = of(shape);
    const std::string text = "input " + std::to_string(input) + " of shape ";
    BOOST_CHECK_EXCEPTION(graph.add(op, inputs), Error, [&](const Error& e) { return names(e, text); });
  }
}

BOOST_AUTO_TEST_CASE(gelu_keeps_its_limits) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const bool approximate : {false, true}) {
    Graph graph;
    const auto y = values_of(gelu(row(graph, {-20, 0, 20}), approximate));
    BOOST_TEST(std::abs(y[0]) < 1e-30);
    BOOST_TEST(y[1] == 0.0F);
    BOOST_TEST(y[2] == 20.0F);
  }
  Graph graph;
  BOOST_TEST(values_of(gelu(row(graph, {-infinity, infinity}))) == (std::vector{0.0F, infinity}));
}

BOOST_AUTO_TEST_CASE(gelu_is_exact_far_from_zero) {
  Graph graph;
  for (const float x : {-3.0F, -6.0F, -9.0F}) {
    const double expected = x * 0.5 * std::erfc(-static_cast<double>(x) / std::sqrt(2.0));
    const double actual = values_of(gelu(row(graph, {x}))).front();
    BOOST_TEST(std::abs(actual / expected - 1) < 1e-5);
  }
}

BOOST_AUTO_TEST_SUITE_END()
