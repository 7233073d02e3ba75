// What the op table does not say of reductions: precision, order, emptiness, special values, mistakes.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <thread>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/names.h"

BOOST_AUTO_TEST_SUITE(reduce)

using namespace actorflow;

namespace {

using test::interpret;
using test::names;
using test::value_of;

Output constant(Graph& graph, const Shape& shape, const std::vector<float>& values) {
  return graph.constant(Tensor::of(shape, values));
}

}  // namespace

BOOST_AUTO_TEST_CASE(float32_sums_of_millions_are_exact_where_the_result_is) {
  constexpr std::int64_t count = 1 << 25;  // Summed up in float32, ones stop counting at 2^24.
  Graph graph;
  const Output ones = fill(graph, {count}, 1);
  BOOST_TEST(value_of(sum(ones)).scalar<float>() == static_cast<float>(count));
  const Output columns = fill(graph, {count / 2, 2}, 0.1);
  BOOST_TEST(value_of(mean(columns, {0})).values<float>()[1] == 0.1F);
}

BOOST_AUTO_TEST_CASE(a_reduction_gives_the_same_bits_on_every_thread) {
  Graph graph;
  const Output x = random_normal(graph, {1000, 37}, 0, 1, 7);
  const std::vector<Output> results{sum(x), sum(x, {0}), sum(x, {1}), mean(x)};
  const auto expected = interpret(graph.def(), {}, results);
  std::vector<Tensor> actual;
  std::thread([&] { actual = interpret(graph.def(), {}, results); }).join();
  for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(identical(actual[i], expected[i]));
}

BOOST_AUTO_TEST_CASE(axes_in_the_middle_and_negative_axes_are_reduced) {
  Graph graph;
  std::vector<float> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Output x = constant(graph, {2, 3, 4}, values);
  BOOST_TEST(
      identical(value_of(sum(x, {1})), Tensor::of<float>({2, 4}, {12, 15, 18, 21, 48, 51, 54, 57})));
  BOOST_TEST(identical(value_of(sum(x, {0, -1})), Tensor::of<float>({3}, {60, 92, 124})));
  BOOST_TEST(identical(value_of(max(x, {0, 2}, true)), Tensor::of<float>({1, 3, 1}, {15, 19, 23})));
}

BOOST_AUTO_TEST_CASE(reductions_of_nothing_have_their_neutral_element) {
  Graph graph;
  const Output empty = graph.constant(Tensor::zeros(DType::float32, {0, 2}));
  BOOST_TEST(identical(value_of(sum(empty, {0})), Tensor::of<float>({2}, {0, 0})));
  BOOST_TEST(std::isnan(value_of(mean(empty)).scalar<float>()));
  BOOST_TEST(value_of(max(empty)).scalar<float>() == -std::numeric_limits<float>::infinity());
  const Output no_ints = graph.constant(Tensor::zeros(DType::int32, {0}));
  BOOST_TEST(value_of(min(no_ints)).scalar<int>() == std::numeric_limits<int>::max());
  BOOST_TEST(value_of(sum(empty, {1})).elements() == 0);
}

BOOST_AUTO_TEST_CASE(nan_is_the_result_wherever_it_stands) {
  for (std::size_t place : {0U, 5U, 16U, 39U}) {
    std::vector<float> values(40, 1);
    values[place] = std::numeric_limits<float>::quiet_NaN();
    Graph graph;
    const Output x = constant(graph, {40}, values);
    BOOST_TEST(std::isnan(value_of(max(x)).scalar<float>()));
    BOOST_TEST(std::isnan(value_of(min(x)).scalar<float>()));
    BOOST_TEST(value_of(argmax(x, 0)).scalar<std::int64_t>() == static_cast<std::int64_t>(place));
  }
}

BOOST_AUTO_TEST_CASE(argmax_takes_the_first_of_equals_along_any_axis) {
  Graph graph;
  const Output x = constant(graph, {2, 3}, {1, 5, 5, 7, 2, 7});
  BOOST_TEST(identical(value_of(argmax(x, 1)), Tensor::of<std::int64_t>({2}, {1, 0})));
  BOOST_TEST(identical(value_of(argmax(x, -2)), Tensor::of<std::int64_t>({3}, {1, 0, 1})));
}

BOOST_AUTO_TEST_CASE(argmax_of_nothing_fails) {
  Graph graph;
  const Output best = argmax(graph.constant(Tensor::zeros(DType::float32, {2, 0})), 1);
  BOOST_CHECK_EXCEPTION(value_of(best), Error, [](const Error& e) { return names(e, "float32[2,0]"); });
}

BOOST_AUTO_TEST_CASE(integer_sums_wrap_around) {
  Graph graph;
  const auto top = std::numeric_limits<std::int64_t>::max();
  const Output x = graph.constant(Tensor::of<std::int64_t>({2}, {top, 1}));
  BOOST_TEST(value_of(sum(x)).scalar<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
}

BOOST_AUTO_TEST_CASE(equal_extremes_share_the_gradient) {
  Graph graph;
  const Output x = constant(graph, {4}, {3, 1, 3, 2});
  BOOST_TEST(identical(value_of(gradients(max(x), {x})[0]), Tensor::of<float>({4}, {0.5, 0, 0.5, 0})));
}

BOOST_AUTO_TEST_CASE(the_gradient_of_a_mean_over_a_batch_of_unknown_size_is_its_share) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {Shape::unknown});
  const Output gradient = gradients(mean(x), {x})[0];
  const test::Feeds feeds{{x.edge.node, Tensor::zeros(DType::float32, {4})}};
  BOOST_TEST(identical(interpret(graph.def(), feeds, {gradient})[0],
                       Tensor::of<float>({4}, {0.25, 0.25, 0.25, 0.25})));
}

BOOST_AUTO_TEST_CASE(sum_like_undoes_broadcasting) {
  Graph graph;
  const Output x = constant(graph, {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto like = [&](const Shape& shape) {
    return graph.constant(Tensor::zeros(DType::float32, shape));
  };
  BOOST_TEST(identical(value_of(sum_like(x, like({3}))), Tensor::of<float>({3}, {5, 7, 9})));
  BOOST_TEST(identical(value_of(sum_like(x, like({2, 1}))), Tensor::of<float>({2, 1}, {6, 15})));
  BOOST_TEST(identical(value_of(sum_like(x, like({}))), Tensor::scalar(21.0F)));
  BOOST_TEST((sum_like(x, like({2, 3})).edge == x.edge));
}

BOOST_AUTO_TEST_CASE(mistakes_name_the_axis_and_the_shape) {
  Graph graph;
  const Output x = constant(graph, {2, 2}, {1, 2, 3, 4});
  BOOST_CHECK_EXCEPTION(sum(x, {2}), Error,
                        [](const Error& e) { return names(e, "from -2 to 1, got 2"); });
  BOOST_CHECK_EXCEPTION(sum(x, {0, -2}), Error, [](const Error& e) { return names(e, "twice"); });
  BOOST_CHECK_EXCEPTION(mean(graph.constant(1)), Error,
                        [](const Error& e) { return names(e, "int32"); });
  BOOST_CHECK_EXCEPTION(broadcast_like(x, graph.constant(1.0F)), Error,
                        [](const Error& e) { return names(e, "[2,2]"); });
}

BOOST_AUTO_TEST_SUITE_END()
