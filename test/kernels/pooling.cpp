// What the table's random inputs do not show of pooling: ties, NaN, memory.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/names.h"
#include "test/kernels/support/random_values.h"

BOOST_AUTO_TEST_SUITE(pooling)

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

// An image of one channel as a constant of the graph.
Output image(Graph& graph, std::int64_t height, std::int64_t width, const std::vector<float>& pixels) {
  return graph.constant(Tensor::of<float>({1, height, width, 1}, pixels));
}

std::vector<float> pixels_of(Output output) {
  const Tensor value = value_of(output);
  const auto values = value.values<float>();
  return {values.begin(), values.end()};
}

// The gradient of the sum of the pooled values, each weighted by its number, counted from 1.
std::vector<float> gradient_of_max(Output x, Extent windows, Extent strides, Padding padding) {
  const Output y = max_pool(x, windows, strides, padding);
  Tensor weights = Tensor::allocate(DType::float32, y.shape());
  float number = 0;
  for (float& weight : weights.mutable_values<float>()) weight = ++number;
  return pixels_of(gradients(sum(y * x.graph->constant(weights)), {x})[0]);
}

}  // namespace

// Large enough to be divided among threads.
BOOST_AUTO_TEST_CASE(a_batch_is_pooled_as_each_of_its_images) {
  constexpr std::int64_t batch = 5, side = 64;
  const auto pooled = [](const Tensor& images) {
    Graph graph;
    const Output x = graph.constant(images);
    std::vector<float> all;
    for (const Extent window : {Extent(2), Extent(3)})
      for (const Output y :
           {max_pool(x, window, 2, Padding::same), avg_pool(x, window, 2, Padding::same)})
        for (const Output value : {y, gradients(sum(square(y)), {x})[0]})
          for (const float element : pixels_of(value)) all.push_back(element);
    return all;
  };
  const Tensor images = random_values({batch, side, side, 8}, 1);
  const auto values = images.values<float>();
  const std::size_t size = values.size() / batch;
  std::vector<std::vector<float>> alone;
  for (std::size_t i = 0; i < batch; ++i)
    alone.push_back(pooled(Tensor::of<float>(
        {1, side, side, 8}, {values.begin() + i * size, values.begin() + (i + 1) * size})));
  // The same, with the images of each result beside each other.
  std::vector<float> expected;
  const std::size_t out = size / 4;
  std::size_t first = 0;
  for (int result = 0; result < 8; ++result) {
    const std::size_t length = result % 2 == 0 ? out : size;
    for (const auto& one : alone)
      expected.insert(expected.end(), one.begin() + first, one.begin() + first + length);
    first += length;
  }
  BOOST_TEST((pooled(images) == expected));
}

BOOST_AUTO_TEST_CASE(the_first_of_equal_maxima_gets_the_gradient) {
  Graph graph;
  const Output x = image(graph, 2, 4,
                         {5, 5, 1, 2,  //
                          5, 5, 2, 2});
  const std::vector<float> expected = {1, 0, 0, 2,  //
                                       0, 0, 0, 0};
  BOOST_TEST(gradient_of_max(x, 2, 2, Padding::valid) == expected);
}

BOOST_AUTO_TEST_CASE(overlapping_windows_add_their_gradients) {
  Graph graph;
  const Output x = image(graph, 1, 4, {1, 9, 2, 3});
  const std::vector<float> expected = {0, 3, 0, 3};
  BOOST_TEST(gradient_of_max(x, {1, 2}, 1, Padding::valid) == expected);
}

BOOST_AUTO_TEST_CASE(what_no_window_covers_gets_no_gradient) {
  Graph graph;
  const Output x = image(graph, 3, 3,
                         {1, 2, 9,  //
                          3, 4, 9,  //
                          9, 9, 9});
  const std::vector<float> expected = {0, 0, 0,  //
                                       0, 1, 0,  //
                                       0, 0, 0};
  BOOST_TEST(gradient_of_max(x, 2, 2, Padding::valid) == expected);
}

BOOST_AUTO_TEST_CASE(nan_is_the_maximum_and_gets_the_gradient) {
  Graph graph;
  const Output x = image(graph, 2, 4,
                         {1, not_a_number, 7, 8,  //
                          3, not_a_number, 6, 5});
  const auto y = pixels_of(max_pool(x, 2, 2));
  BOOST_TEST(std::isnan(y[0]));
  BOOST_TEST(y[1] == 8);
  const std::vector<float> expected = {0, 1, 0, 2,  //
                                       0, 0, 0, 0};
  BOOST_TEST(gradient_of_max(x, 2, 2, Padding::valid) == expected);
}

BOOST_AUTO_TEST_CASE(padding_is_in_no_mean) {
  Graph graph;
  const Output x = image(graph, 3, 3,
                         {1, 2, 3,  //
                          4, 5, 6,  //
                          7, 8, 9});
  const std::vector<float> expected = {3, 4.5, 7.5, 9};
  BOOST_TEST(pixels_of(avg_pool(x, 2, 2)) == expected);
}

// What is between the windows, and in none of them, is 0 there.
BOOST_AUTO_TEST_CASE(a_gradient_of_separate_windows_takes_the_memory_of_the_images) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {1, 3, 4, 1});
  const Output y = max_pool(x, 1, 2, Padding::valid);
  const Output gradient = gradients(sum(y), {x})[0];
  std::vector<Tensor> inputs;  // the only handles
  inputs.push_back(Tensor::of<float>({1, 3, 4, 1}, {1, 9, 2, 9,  //
                                                    9, 9, 9, 9,  //
                                                    3, 9, 4, 9}));
  inputs.push_back(Tensor::of<float>({1, 2, 2, 1}, {1, 2, 3, 4}));
  inputs.push_back(Tensor::of<float>({1, 2, 2, 1}, {10, 20, 30, 40}));
  const void* memory = inputs[0].data();
  const auto results = run_kernel(gradient.node(), std::move(inputs), cpu_device());
  BOOST_TEST(results[0].data() == memory);
  BOOST_TEST(identical(results[0], Tensor::of<float>({1, 3, 4, 1}, {10, 0, 20, 0,  //
                                                                    0, 0, 0, 0,    //
                                                                    30, 0, 40, 0})));
}

BOOST_AUTO_TEST_CASE(windows_and_strides_may_be_of_any_size) {
  Graph graph;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const Output x = image(graph, 2, 2, {1, 4, 3, 2});
  BOOST_TEST(pixels_of(max_pool(x, most, most)) == std::vector<float>{4},
             boost::test_tools::per_element());
  BOOST_TEST(pixels_of(avg_pool(x, 2, most)) == std::vector<float>{2.5},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(mistakes_are_refused_by_name) {
  Graph graph;
  const Output x = image(graph, 2, 2, {1, 2, 3, 4});
  BOOST_CHECK_EXCEPTION(max_pool(x, 3, 1, Padding::valid), Error,
                        [](const Error& e) { return names(e, "windows that fit into the images"); });
  BOOST_CHECK_EXCEPTION(max_pool(x, 0, 1), Error,
                        [](const Error& e) { return names(e, "ksize of the form"); });
  BOOST_CHECK_EXCEPTION(avg_pool(reshape(x, {4}), 1, 1), Error,
                        [](const Error& e) { return names(e, "AvgPool"); });
}

BOOST_AUTO_TEST_SUITE_END()
