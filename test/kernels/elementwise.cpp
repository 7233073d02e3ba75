// What the op table does not say of elementwise ops: special values, memory, and mistakes.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/names.h"

BOOST_AUTO_TEST_SUITE(elementwise)

using namespace actorflow;

namespace {

using test::interpret;
using test::names;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

template <Element T>
Output constant(Graph& graph, const std::vector<T>& values) {
  return graph.constant(Tensor::of({static_cast<std::int64_t>(values.size())}, values));
}

template <Element T>
std::vector<T> values_of(Output output) {
  const Tensor tensor = interpret(output.graph->def(), {}, {output}).front();
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_example_of_the_manual_gives_238) {
  Graph graph;
  const Output x = graph.constant(2);
  const Output y2 = x - 66;
  const Output y = x + 300 + y2;
  BOOST_TEST(values_of<int>(y) == std::vector{238});
}

BOOST_AUTO_TEST_CASE(numbers_take_the_dtype_of_the_other_side) {
  Graph graph;
  const Output x = constant<float>(graph, {1, 2});
  BOOST_TEST(values_of<float>(1 - x * 0.5) == (std::vector{0.5F, 0.0F}));
  BOOST_TEST(values_of<float>(2 / x + 1) == (std::vector{3.0F, 2.0F}));
  BOOST_TEST(values_of<float>(-x) == (std::vector{-1.0F, -2.0F}));
}

BOOST_AUTO_TEST_CASE(a_number_that_the_other_side_cannot_hold_is_refused) {
  Graph graph;
  const Output x = graph.constant(2, "x");
  BOOST_CHECK_EXCEPTION(x * 0.5, Error, [](const Error& e) { return names(e, "0.5"); });
  BOOST_CHECK_EXCEPTION(x + (std::int64_t{1} << 31), Error,
                        [](const Error& e) { return names(e, "int32"); });
  BOOST_CHECK_EXCEPTION(x + 1e300, Error, [](const Error& e) { return names(e, "'x'"); });
  BOOST_CHECK_EXCEPTION(graph.constant("text") + 1, Error,
                        [](const Error& e) { return names(e, "string"); });
  BOOST_TEST(values_of<int>(x + 2.0) == std::vector{4});
}

BOOST_AUTO_TEST_CASE(integers_wrap_around) {
  Graph graph;
  const int top = std::numeric_limits<int>::max(), bottom = std::numeric_limits<int>::min();
  const Output x = constant<int>(graph, {top, bottom});
  BOOST_TEST(values_of<int>(x + 1) == (std::vector{bottom, bottom + 1}));
  BOOST_TEST(values_of<int>(x * 2) == (std::vector{-2, 0}));
  BOOST_TEST(values_of<int>(-x) == (std::vector{-top, bottom}));
  BOOST_TEST(values_of<int>(abs(x)) == (std::vector{top, bottom}));
  BOOST_TEST(values_of<int>(x / -1) == (std::vector{-top, bottom}));
}

BOOST_AUTO_TEST_CASE(integer_division_rounds_towards_zero) {
  Graph graph;
  const Output x = constant<std::int64_t>(graph, {7, -7});
  BOOST_TEST(values_of<std::int64_t>(x / 2) == (std::vector<std::int64_t>{3, -3}));
}

BOOST_AUTO_TEST_CASE(an_integer_divided_by_zero_fails_and_a_float_gives_infinity) {
  Graph graph;
  const Output x = constant<int>(graph, {1, 2});
  const Output quotient = x / constant<int>(graph, {1, 0});
  BOOST_CHECK_EXCEPTION(values_of<int>(quotient), Error, [](const Error& e) { return names(e, "Div"); });
  Graph floats;
  BOOST_TEST(std::isinf(values_of<float>(constant<float>(floats, {1}) / 0)[0]));
}

BOOST_AUTO_TEST_CASE(nan_is_never_hidden) {
  Graph graph;
  const Output x = constant<float>(graph, {nan_value, 1}), y = constant<float>(graph, {1, nan_value});
  for (const Output& result : {maximum(x, y), minimum(x, y)})
    for (const float value : values_of<float>(result)) BOOST_TEST(std::isnan(value));
  BOOST_TEST(std::isnan(values_of<float>(relu(x))[0]));
  BOOST_TEST(std::isnan(values_of<float>(sign(x))[0]));
}

BOOST_AUTO_TEST_CASE(sigmoid_saturates_without_nan) {
  Graph graph;
  const auto y = values_of<float>(sigmoid(constant<float>(graph, {-1000, 0, 1000})));
  BOOST_TEST(y == (std::vector{0.0F, 0.5F, 1.0F}));
}

BOOST_AUTO_TEST_CASE(casts_to_integers_truncate_and_saturate) {
  Graph graph;
  const Output x = constant<float>(graph, {1.9F, -1.9F, 3e9F, -3e9F, nan_value});
  const std::vector expected{1, -1, std::numeric_limits<int>::max(), std::numeric_limits<int>::min(), 0};
  BOOST_TEST(values_of<int>(cast(x, DType::int32)) == expected);
  const Output big = constant<double>(graph, {1e30, -1e30});
  BOOST_TEST(
      values_of<std::int64_t>(cast(big, DType::int64)) ==
      (std::vector{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}));
  BOOST_TEST(values_of<std::uint8_t>(cast(x, DType::uint8)) ==
             (std::vector<std::uint8_t>{1, 0, 255, 0, 0}));
}

BOOST_AUTO_TEST_CASE(a_cast_to_the_same_dtype_adds_no_node) {
  Graph graph;
  const Output x = graph.constant(1.0F);
  BOOST_TEST((cast(x, DType::float32).edge == x.edge));
}

BOOST_AUTO_TEST_CASE(an_input_that_nobody_else_holds_becomes_the_output) {
  Graph graph;
  const Output y = relu(graph.placeholder(DType::float32, {2}));
  Tensor x = Tensor::of<float>({2}, {-1, 1});
  const void* memory = x.data();
  std::vector<Tensor> inputs;
  inputs.push_back(std::move(x));
  const Tensor out = test::run_kernel(y.node(), std::move(inputs), cpu_device()).front();
  BOOST_TEST(out.data() == memory);
  BOOST_TEST(out.values<float>()[0] == 0.0F);
}

BOOST_AUTO_TEST_CASE(an_input_that_somebody_else_holds_is_left_alone) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {2});
  const Tensor held = Tensor::of<float>({2}, {1, 2});
  const Tensor doubled = interpret(graph.def(), {{x.edge.node, held}}, {x}).front();
  const auto results = test::run_kernel((x + x).node(), {held, held}, cpu_device());
  BOOST_TEST(held.values<float>()[0] == 1.0F);
  BOOST_TEST(results[0].values<float>()[1] == 4.0F);
  BOOST_TEST(doubled.data() == held.data());
}

BOOST_AUTO_TEST_CASE(a_broadcast_result_may_take_the_memory_of_either_side) {
  Graph graph;
  const Output a = graph.placeholder(DType::float32, {2}), b = graph.placeholder(DType::float32, {2, 2});
  const Node node = (a - b).node();
  std::vector<Tensor> inputs;
  inputs.push_back(Tensor::of<float>({2}, {10, 20}));
  inputs.push_back(Tensor::of<float>({2, 2}, {1, 2, 3, 4}));
  const void* memory = inputs[1].data();
  const Tensor out = test::run_kernel(node, std::move(inputs), cpu_device()).front();
  BOOST_TEST(out.data() == memory);
  BOOST_TEST(identical(out, Tensor::of<float>({2, 2}, {9, 18, 7, 16})));
}

BOOST_AUTO_TEST_CASE(tensors_of_no_elements_broadcast) {
  Graph graph;
  const Output x = graph.constant(Tensor::zeros(DType::float32, {0, 3}));
  const Output y = graph.constant(Tensor::zeros(DType::float32, {3}));
  const Tensor sum = interpret(graph.def(), {}, {x + y}).front();
  BOOST_TEST((sum.shape() == Shape{0, 3}));
}

BOOST_AUTO_TEST_CASE(mistakes_name_the_node_and_both_types) {
  Graph graph;
  const Output x = graph.constant(Tensor::zeros(DType::float32, {2, 3}));
  const Output y = graph.constant(Tensor::zeros(DType::float32, {2}));
  BOOST_CHECK_EXCEPTION(x + y, Error,
                        [](const Error& e) { return names(e, "[2,3]") && names(e, "'Add'"); });
  BOOST_CHECK_EXCEPTION(x * graph.constant(1), Error, [](const Error& e) { return names(e, "int32"); });
  BOOST_CHECK_EXCEPTION(exp(graph.constant(1)), Error,
                        [](const Error& e) { return names(e, "float64"); });
  BOOST_CHECK_EXCEPTION(select(x, x, x), Error, [](const Error& e) { return names(e, "bool"); });
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_broadcast_when_it_runs_fail_in_terms_of_the_node) {
  Graph graph;
  const Output a = graph.placeholder(DType::float32, {Shape::unknown}, "a");
  const Output b = graph.placeholder(DType::float32, {Shape::unknown}, "b");
  const Output total = a + b;
  const test::Feeds feeds{{a.edge.node, Tensor::of<float>({2}, {1, 2})},
                          {b.edge.node, Tensor::of<float>({3}, {1, 2, 3})}};
  BOOST_CHECK_EXCEPTION(interpret(graph.def(), feeds, {total}), Error,
                        [](const Error& e) { return names(e, "node 'Add'"); });
}

BOOST_AUTO_TEST_CASE(gradients_of_a_batch_of_unknown_size_have_the_shapes_of_the_inputs) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {Shape::unknown, 2});
  const Output scale = constant<float>(graph, {2, 3});
  const auto gradient = gradients(sum(x * scale), {x, scale});
  const auto result =
      interpret(graph.def(), {{x.edge.node, Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6})}}, gradient);
  BOOST_TEST(identical(result[0], Tensor::of<float>({3, 2}, {2, 3, 2, 3, 2, 3})));
  BOOST_TEST(identical(result[1], Tensor::of<float>({2}, {9, 12})));
}

BOOST_AUTO_TEST_CASE(of_two_equal_sides_the_first_gets_the_gradient_of_maximum) {
  Graph graph;
  const Output a = constant<float>(graph, {1, 5}), b = constant<float>(graph, {1, 7});
  const auto gradient = gradients(sum(maximum(a, b)), {a, b});
  BOOST_TEST(values_of<float>(gradient[0]) == (std::vector{1.0F, 0.0F}));
  BOOST_TEST(values_of<float>(gradient[1]) == (std::vector{0.0F, 1.0F}));
}

BOOST_AUTO_TEST_CASE(the_gradient_of_pow_is_finite_at_zero) {
  Graph graph;
  const Output x = constant<float>(graph, {0, 2}), two = graph.constant(2.0F);
  const auto gradient = gradients(sum(pow(x, two)), {x, two});
  BOOST_TEST(values_of<float>(gradient[0]) == (std::vector{0.0F, 4.0F}));
  BOOST_TEST(values_of<float>(gradient[1])[0] == 4 * std::log(2.0F),
             boost::test_tools::tolerance(1e-6F));
}

BOOST_AUTO_TEST_SUITE_END()
