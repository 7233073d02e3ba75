// Kernels whose work is divided among threads.
#include "kernels/devices/team.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/teams.h"

BOOST_AUTO_TEST_SUITE(team)

using namespace actorflow;
using namespace actorflow::test;

namespace {

template <class T>
Output waves(Graph& graph, const Shape& shape, double step) {
  Tensor tensor = Tensor::allocate(dtype_of<T>, shape);
  double angle = 0;
  for (T& value : tensor.mutable_values<T>())
    value = static_cast<T>(static_cast<float>(std::sin(angle += step)));
  return graph.constant(tensor);
}

// A convolution of a batch that is worth several threads, or what follows it, with all gradients.
struct Layer {
  Graph graph;
  std::vector<Output> results;

  void add(Output y, std::vector<Output> inputs) {
    results = gradients(sum(y * y), inputs);
    results.push_back(y);
  }
};

constexpr std::int64_t batch = 9, side = 32, channels = 16;

template <class T>
void add_conv(Layer& layer) {
  Graph& g = layer.graph;
  const Output x = waves<T>(g, {batch, side, side, channels}, 0.37);
  const Output filter = waves<T>(g, {3, 3, channels, channels}, 0.91);
  const Output bias = waves<T>(g, {channels}, 0.5);
  layer.add(fused_conv2d(x, filter, bias, true), {x, filter, bias});
}

void add_batch_norm(Layer& layer) {
  Graph& g = layer.graph;
  const Shape shape{batch, side, side, channels + 1};  // a wide row holds no whole number of these
  const Output x = waves<float>(g, shape, 0.37), shortcut = waves<float>(g, shape, 0.11);
  const Output scale = waves<float>(g, {channels + 1}, 0.3),
               offset = waves<float>(g, {channels + 1}, 0.7);
  layer.add(batch_norm(x, scale, offset, 1e-3, true, shortcut).y, {x, scale, offset, shortcut});
}

void check_same_bits(Layer& layer) {
  ThreadPerPart team;
  const auto alone = interpret(layer.graph.def(), {}, layer.results);
  const auto shared = interpret(layer.graph.def(), {}, layer.results, cpu_device(), &team);
  BOOST_TEST(team.most_parts > 1);
  for (std::size_t i = 0; i < alone.size(); ++i)
    BOOST_TEST(std::memcmp(alone[i].data(), shared[i].data(), alone[i].size_bytes()) == 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_team_convolves_to_the_same_bits) {
  Layer layer;
  add_conv<float>(layer);
  check_same_bits(layer);
}

BOOST_AUTO_TEST_CASE(a_team_normalises_a_batch_to_the_same_bits) {
  Layer layer;
  add_batch_norm(layer);
  check_same_bits(layer);
}

BOOST_AUTO_TEST_CASE(a_divided_convolution_is_right) {
  Layer divided, plain;
  add_conv<float>(divided);
  add_conv<double>(plain);
  const auto actual = interpret(divided.graph.def(), {}, divided.results);
  const auto expected = interpret(plain.graph.def(), {}, plain.results);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    double largest = 0, apart = 0;
    const auto a = actual[i].values<float>();
    const auto e = expected[i].values<double>();
    for (std::size_t j = 0; j < a.size(); ++j) {
      largest = std::max(largest, std::abs(e[j]));
      apart = std::max(apart, std::abs(e[j] - static_cast<double>(a[j])));
    }
    BOOST_TEST(apart <= 1e-4 * largest);
  }
}

BOOST_AUTO_TEST_SUITE_END()
