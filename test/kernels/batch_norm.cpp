// What the table's random inputs do not show of batch normalisation.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/names.h"

BOOST_AUTO_TEST_SUITE(batch_norm)

using namespace actorflow;
using namespace actorflow::test;

namespace {

Output filled(Graph& graph, std::int64_t channels, float value) {
  return graph.constant(
      Tensor::of<float>({channels}, std::vector<float>(static_cast<std::size_t>(channels), value)));
}

BatchNorm normalise(Output x, double epsilon = 0) {
  const std::int64_t channels = x.shape()[x.shape().rank() - 1];
  Graph& graph = *x.graph;
  return actorflow::batch_norm(x, filled(graph, channels, 1), filled(graph, channels, 0), epsilon);
}

// rows x channels: 1, 2, 3, ... in each channel, scaled and moved.
Tensor ramp(std::int64_t rows, std::int64_t channels, float step, float from) {
  Tensor tensor = Tensor::allocate(DType::float32, {rows, channels});
  std::int64_t i = 0;
  for (float& value : tensor.mutable_values<float>())
    value = from + step * static_cast<float>(i++ / channels);
  return tensor;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_variance_for_moving_averages_is_unbiased) {
  Graph graph;
  const BatchNorm norm = normalise(graph.constant(Tensor::of<float>({4, 1}, {1, 2, 3, 6})));
  BOOST_TEST(value_of(norm.mean).values<float>()[0] == 3);
  BOOST_TEST(value_of(norm.variance).values<float>()[0] == 14.0F / 3);
  const Tensor y = value_of(norm.y);
  BOOST_TEST(y.values<float>()[3] == 3 / std::sqrt(14.0F / 4), boost::test_tools::tolerance(1e-6F));
}

BOOST_AUTO_TEST_CASE(a_mean_far_from_zero_leaves_the_variance_precise) {
  for (const std::int64_t channels : {1, 3, 16, 70}) {
    Graph graph;
    const std::int64_t rows = 5000;
    const BatchNorm norm = normalise(graph.constant(ramp(rows, channels, 1, 1e6F)));
    const auto n = static_cast<double>(rows);
    const Tensor variance = value_of(norm.variance);
    for (const float value : variance.values<float>())
      BOOST_TEST(static_cast<double>(value) == n * (n + 1) / 12, boost::test_tools::tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(one_row_and_none_have_finite_results) {
  for (const std::int64_t rows : {0, 1}) {
    Graph graph;
    const BatchNorm norm = normalise(graph.constant(ramp(rows, 3, 1, 5)), 1e-3);
    const Tensor y = value_of(norm.y), variance = value_of(norm.variance);
    for (const float value : y.values<float>()) BOOST_TEST(value == 0);
    for (const float value : variance.values<float>()) BOOST_TEST(value == 0);
  }
}

BOOST_AUTO_TEST_CASE(not_a_number_stays_in_its_channel) {
  Graph graph;
  Tensor x = ramp(40, 3, 1, 0);
  x.mutable_values<float>()[7] = std::nanf("");  // channel 1
  const Tensor y = value_of(normalise(graph.constant(x), 1e-3).y);
  for (std::size_t i = 0; i < 120; ++i) BOOST_TEST(std::isnan(y.values<float>()[i]) == (i % 3 == 1));
}

BOOST_AUTO_TEST_CASE(with_the_statistics_of_the_batch_inference_does_the_same) {
  Graph graph;
  const Output x = graph.constant(ramp(9, 2, 0.5F, 1));
  const Output scale = filled(graph, 2, 3), offset = filled(graph, 2, 1);
  const BatchNorm norm = actorflow::batch_norm(x, scale, offset, 0.01);
  const Output same = batch_norm_inference(x, scale, offset, norm.mean, norm.variance * (8.0 / 9), 0.01);
  const Tensor trained = value_of(norm.y), inferred = value_of(same);
  for (std::size_t i = 0; i < 18; ++i)
    BOOST_TEST(trained.values<float>()[i] == inferred.values<float>()[i],
               boost::test_tools::tolerance(1e-4F));
}

BOOST_AUTO_TEST_CASE(mistakes_are_refused_by_name) {
  Graph graph;
  const Output x = graph.constant(ramp(4, 3, 1, 0)), three = filled(graph, 3, 1);
  BOOST_CHECK_EXCEPTION(actorflow::batch_norm(x, three, filled(graph, 4, 1)), Error,
                        [](const Error& e) { return names(e, "one value per channel as input 2"); });
  BOOST_CHECK_EXCEPTION(actorflow::batch_norm(x, three, three, -1), Error,
                        [](const Error& e) { return names(e, "epsilon"); });
}

BOOST_AUTO_TEST_SUITE_END()
