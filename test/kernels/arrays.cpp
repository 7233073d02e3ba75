// Functions that are built of other ops, and operators: values by hand, gradients against difference
// quotients.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"
#include "test/kernels/support/interpreter.h"

BOOST_AUTO_TEST_SUITE(arrays)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Ints = std::vector<std::int64_t>;
using Function = std::function<Output(Output)>;

Tensor run(const Output& output, const Feeds& feeds = {}) {
  return interpret(output.graph->def(), feeds, {output})[0];
}

template <class T>
void expect(const Output& output, const Shape& shape, const std::vector<T>& values) {
  const Tensor tensor = run(output);
  BOOST_TEST(output.shape().compatible_with(tensor.shape()));
  BOOST_TEST_REQUIRE(tensor.shape().to_string() == shape.to_string());
  const std::vector<T> actual(tensor.values<T>().begin(), tensor.values<T>().end());
  BOOST_TEST(actual == values, boost::test_tools::per_element());
}

// [shape] of 1, 2, ... in float64.
Tensor counting(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::float64, shape);
  double next = 0;
  for (double& value : tensor.mutable_values<double>()) value = ++next;
  return tensor;
}

// The gradient of a weighted sum of f(x) by x, against central differences.
void check_gradient(const Tensor& at, const Function& f) {
  Graph g;
  const Output x = g.placeholder(DType::float64, at.shape());
  const Output y = f(x);
  Tensor weights = counting(run(y, {{x.edge.node, at}}).shape());
  const Output loss = sum(y * g.constant(weights));
  const Output by_x = gradients(loss, {x})[0];
  BOOST_TEST_REQUIRE(bool(by_x));
  const Tensor gradient = run(by_x, {{x.edge.node, at}});
  for (std::int64_t i = 0; i < at.elements(); ++i) {
    double losses[2];
    for (const int side : {0, 1}) {
      Tensor moved = at.clone();
      moved.mutable_values<double>()[static_cast<std::size_t>(i)] += side == 0 ? -1e-5 : 1e-5;
      losses[side] = run(loss, {{x.edge.node, moved}}).scalar<double>();
    }
    const double expected = (losses[1] - losses[0]) / 2e-5;
    const double actual = gradient.values<double>()[static_cast<std::size_t>(i)];
    BOOST_TEST(std::abs(actual - expected) <= 1e-5 * std::max(1.0, std::abs(expected)),
               "element " << i << ": " << actual << ", but the difference quotient is " << expected);
  }
}

auto invalid_with(const std::string& part) {
  return [part](const Error& error) {
    BOOST_TEST_MESSAGE(error.what());
    return error.code() == Code::invalid_argument &&
           std::string(error.what()).find(part) != std::string::npos;
  };
}

}  // namespace

BOOST_AUTO_TEST_CASE(operators_compare_and_assign) {
  Graph g;
  Output x = g.constant({1.0, 2.0, 3.0});
  const Output before = x;
  expect<bool>(x < 2, {3}, {true, false, false});
  expect<bool>(x <= 2, {3}, {true, true, false});
  expect<bool>(2 < x, {3}, {false, false, true});
  expect<bool>(x == 2, {3}, {false, true, false});
  expect<bool>(x != before, {3}, {false, false, false});
  expect<double>(where(x >= 2, x, -x), {3}, {-1, 2, 3});
  x += 1;
  x *= before;
  x -= before;
  x /= 2.0;
  expect<double>(x, {3}, {0.5, 2, 4.5});
  expect<double>(before, {3}, {1, 2, 3});
}

BOOST_AUTO_TEST_CASE(an_index_takes_a_part_of_the_first_axis) {
  Graph g;
  const Output x = g.constant({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}});
  expect<double>(x[1], {2}, {3, 4});
  expect<double>(x[-1][0], {}, {5});
  expect<double>(element(x, 1, 1), {3}, {2, 4, 6});
  BOOST_CHECK_EXCEPTION(x[3], Error, invalid_with("from -3 to 2, got 3"));
  const Output open = g.placeholder(DType::float32, {Shape::unknown, 2});
  BOOST_CHECK_EXCEPTION(open[-1], Error, invalid_with("unknown"));
  check_gradient(counting({3, 2}), [](Output y) { return y[1] * y[-1]; });
}

BOOST_AUTO_TEST_CASE(parts_are_stacked_and_unstacked) {
  Graph g;
  const Output x = g.constant({1, 2}), y = g.constant({3, 4});
  expect<int>(stack({x, y}), {2, 2}, {1, 2, 3, 4});
  expect<int>(stack({x, y}, -1), {2, 2}, {1, 3, 2, 4});
  expect<int>(unstack(stack({x, y}), 1)[1], {2}, {2, 4});
  BOOST_CHECK_EXCEPTION(stack({}), Error, invalid_with("no tensors"));
  BOOST_CHECK_EXCEPTION(stack({x, y}, 2), Error, invalid_with("from -2 to 1"));
  check_gradient(counting({2, 3}), [](Output a) {
    const auto parts = unstack(a, 1);
    return stack({parts[2], parts[0] * parts[1]}, 1);
  });
}

BOOST_AUTO_TEST_CASE(an_axis_is_split) {
  Graph g;
  const Output x = g.constant({{1, 2, 3}, {4, 5, 6}});
  const auto parts = split(x, Ints{1, 2}, 1);
  expect<int>(parts[0], {2, 1}, {1, 4});
  expect<int>(parts[1], {2, 2}, {2, 3, 5, 6});
  expect<int>(split(x, 2, 0)[1], {1, 3}, {4, 5, 6});
  BOOST_CHECK_EXCEPTION(split(x, Ints{1, 1}, 1), Error, invalid_with("a sum of 2"));
  BOOST_CHECK_EXCEPTION(split(x, 2, 1), Error, invalid_with("divides 3"));
  const Output open = g.placeholder(DType::float64, {-1}, "open");
  const auto open_parts = split(open, Ints{2, 3}, 0);
  BOOST_TEST(run(open_parts[1], {{open.edge.node, counting({5})}}).describe() == "float64[3]");
  BOOST_CHECK_EXCEPTION(run(open_parts[1], {{open.edge.node, counting({10})}}), Error,
                        invalid_with("as long as its parts together"));
  check_gradient(counting({2, 4}), [](Output a) {
    const auto halves = split(a, 2, 1);
    return halves[0] * halves[1];
  });
}

BOOST_AUTO_TEST_CASE(dimensions_of_one_go_away) {
  Graph g;
  const Output x = g.constant({{{1}, {2}}});
  expect<int>(squeeze(x, {0, 2}), {2}, {1, 2});
  BOOST_CHECK_EXCEPTION(squeeze(x, {1}), Error, invalid_with("length 1"));
  const Output open = g.placeholder(DType::float32, {-1, 1, -1});
  BOOST_TEST(squeeze(open, {1}).type().to_string() == "float32[?,?]");
  const Output half = g.placeholder(DType::float16, {-1, 1, -1});
  BOOST_TEST(squeeze(half, {1}).type().to_string() == "float16[?,?]");
  const Output texts = g.placeholder(DType::string, {-1, 1, -1});
  BOOST_CHECK_EXCEPTION(squeeze(texts, {1}), Error, invalid_with("numbers"));
}

BOOST_AUTO_TEST_CASE(indices_become_vectors_of_one_hot) {
  Graph g;
  const Output x = g.constant({2, 0, 7});
  expect<float>(one_hot(x, 3), {3, 3}, {0, 0, 1, 1, 0, 0, 0, 0, 0});
  expect<int>(one_hot(x, 3, DType::int32, 0, 5, -1), {3, 3}, {-1, 5, -1, -1, -1, -1, 5, -1, -1});
  expect<float>(one_hot(g.constant({{1}, {0}}), 2), {2, 1, 2}, {0, 1, 1, 0});
  expect<std::int64_t>(range(g, 5, 0, -2), {3}, {5, 3, 1});
  constexpr auto most = std::numeric_limits<std::int64_t>::max(),
                 least = std::numeric_limits<std::int64_t>::min();
  expect<std::int64_t>(range(g, most - 1, most, 2), {1}, {most - 1});
  expect<std::int64_t>(range(g, least + 3, least, -2), {2}, {least + 3, least + 1});
  expect<std::int64_t>(range(g, least, most, most), {3}, {least, -1, most - 1});
  expect<std::int64_t>(range(g, 3, 3), {0}, {});
  BOOST_CHECK_EXCEPTION(one_hot(cast(x, DType::uint8), 3), Error, invalid_with("int32 or int64"));
}

BOOST_AUTO_TEST_CASE(values_are_clipped_and_tested) {
  Graph g;
  const Output x = g.constant({-3.0, 0.5, 3.0});
  expect<double>(clip(x, -1, 1), {3}, {-1, 0.5, 1});
  expect<bool>(any(x > 2), {}, {true});
  expect<bool>(all(x > 2), {}, {false});
  expect<double>(variance(g.constant({1.0, 3.0})), {}, {1});
  BOOST_CHECK_EXCEPTION(clip(x, 1, -1), Error, invalid_with("lower bound"));
  BOOST_CHECK_EXCEPTION(any(x), Error, invalid_with("bool"));
  check_gradient(Tensor{-3.0, 0.5, 3.0}, [](Output a) { return clip(a, -1, 1) * a; });
  check_gradient(counting({2, 3}), [](Output a) { return variance(a, {1}); });
}

BOOST_AUTO_TEST_CASE(activations_have_gradients) {
  const Tensor x{-2.5, -0.3, 0.4, 800.0};
  for (const auto& f : std::vector<Function>{silu, softplus, [](Output a) { return erf(a); }, selu,
                                             [](Output a) { return leaky_relu(a, 0.1); },
                                             [](Output a) { return elu(a, 1.5); }})
    check_gradient(x, f);
  Graph g;
  for (const float value : {-20.F, -10.F, -1.F, 0.F, 3.F, 30.F})
    BOOST_TEST(run(softplus(g.constant(value))).scalar<float>() == std::log1p(std::exp(double{value})),
               boost::test_tools::tolerance(3e-7));
  const double elu_value = run(elu(g.constant(-1.0))).scalar<double>();
  BOOST_TEST(std::abs(elu_value - (std::exp(-1.0) - 1)) < 1e-12);
}

BOOST_AUTO_TEST_CASE(no_gradient_flows_through_a_stop) {
  check_gradient(Tensor{1.0, 2.0}, [](Output a) { return a * a; });
  Graph g;
  const Output x = g.constant({1.0, 2.0});
  const auto by_x = gradients(sum(x * stop_gradient(x)), {x});
  expect<double>(by_x[0], {2}, {1, 2});
}

BOOST_AUTO_TEST_CASE(the_top_comes_in_order_and_nan_first) {
  Graph g;
  const auto [values, indices] = top_k(g.constant({{1.0, 5.0, 5.0}, {2.0, std::nan(""), 1.0}}), 2);
  expect<std::int64_t>(indices, {2, 2}, {1, 2, 1, 0});
  expect<double>(values[0], {2}, {5, 5});
  BOOST_CHECK_EXCEPTION(top_k(values, 3), Error, invalid_with("from 1 to the length"));
  check_gradient(Tensor{{3.0, 1.0, 2.0}, {1.0, 5.0, 4.0}}, [](Output a) { return top_k(a, 2).values; });
}

BOOST_AUTO_TEST_CASE(misfits_are_named) {
  Graph g;
  const Output x = g.constant({{1.0, 2.0}, {3.0, 4.0}});
  BOOST_CHECK_EXCEPTION(tile(x, {2}), Error, invalid_with("(Tile)"));
  BOOST_CHECK_EXCEPTION(tile(x, {2, 0}), Error, invalid_with("1 or more"));
  constexpr std::int64_t huge = (std::int64_t{1} << 62) + 1;
  BOOST_CHECK_EXCEPTION(tile(x, {huge, 2}), Error, invalid_with("dimensions below 2^63"));
  BOOST_CHECK_EXCEPTION(cumsum(x, 2), Error, invalid_with("(CumSum)"));
  BOOST_CHECK_EXCEPTION(take_along_axis(x, g.constant({1, 1}), 1), Error, invalid_with("indices"));
  BOOST_CHECK_EXCEPTION(run(take_along_axis(x, g.constant({{2}, {0}}), 1)), Error,
                        invalid_with("the index 2 at place 0"));
}

BOOST_AUTO_TEST_SUITE_END()
