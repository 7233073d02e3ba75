#include "actors/events/summaries.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "actors/client/session.h"
#include "actors/events/summary_image.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

BOOST_AUTO_TEST_SUITE(summaries)

using namespace actorflow;

namespace {

bool names(const Error& error, std::string_view text) {
  BOOST_TEST_INFO(error.what());
  return error.code() == Code::invalid_argument &&
         std::string_view(error.what()).find(text) != std::string_view::npos;
}

template <class Kind>
const Kind& get(const std::vector<Summary>& summaries, std::string_view tag) {
  const auto found = std::ranges::find(summaries, tag, &Summary::tag);
  BOOST_TEST_REQUIRE((found != summaries.end()), "no summary " << tag);
  return std::get<Kind>(found->value);
}

std::vector<Summary> run(const Graph& graph, const Summaries& summaries) {
  Session session(graph);
  session.initialize_variables();
  return summaries.values(session.run(summaries.fetches()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_step_fetches_all) {
  Graph graph;
  const Variable weights =
      graph.variable("weights", graph.constant(Tensor::of<float>({4}, {-1, 0, 2, 3})));
  Summaries summaries;
  summaries.scalar("loss", mean(weights));
  summaries.scalar("count", graph.constant(std::int64_t{12}));
  summaries.histogram("weights", weights);
  summaries.image("digits", graph.constant(Tensor::zeros(DType::uint8, {5, 2, 3, 1})), 2);
  const auto values = run(graph, summaries);
  BOOST_TEST_REQUIRE(values.size() == 5u);
  BOOST_TEST(get<ScalarSummary>(values, "loss").value == 1);
  BOOST_TEST(get<ScalarSummary>(values, "count").value == 12);
  const auto& histogram = get<HistogramSummary>(values, "weights");
  BOOST_TEST(histogram.min == -1);
  BOOST_TEST(histogram.max == 3);
  BOOST_TEST(histogram.count == 4);
  BOOST_TEST(histogram.sum == 4);
  BOOST_TEST(histogram.sum_of_squares == 14);
  BOOST_TEST(std::reduce(histogram.buckets.begin(), histogram.buckets.end()) == 4);
  BOOST_TEST(get<ImageSummary>(values, "digits/image/1").width == 3);
}

BOOST_AUTO_TEST_CASE(elements_that_are_not_finite_are_reported) {
  Graph graph;
  Summaries summaries;
  const float infinity = std::numeric_limits<float>::infinity();
  summaries.histogram("w", graph.constant(Tensor::of<float>({3}, {1, std::nanf(""), -infinity})));
  const auto values = run(graph, summaries);
  BOOST_TEST(get<HistogramSummary>(values, "w").count == 1);
  BOOST_TEST(get<ScalarSummary>(values, "w/not_finite").value == 2);
}

BOOST_AUTO_TEST_CASE(a_scalar_that_is_not_finite_stays_so) {
  Graph graph;
  Summaries summaries;
  summaries.scalar("nan", graph.constant(std::nan("")));
  summaries.scalar("huge", graph.constant(1e300));
  const auto values = run(graph, summaries);
  BOOST_TEST(std::isnan(get<ScalarSummary>(values, "nan").value));
  BOOST_TEST(get<ScalarSummary>(values, "huge").value == 1e300);
}

BOOST_AUTO_TEST_CASE(a_histogram_is_made_where_its_tensor_is) {
  LocalCluster cluster({{"ps", 1}, {"worker", 1}});
  Graph graph;
  const Variable weights =
      graph.on("/job:ps/task:0", [&] { return graph.variable("weights", fill(graph, {1000}, 2)); });
  Summaries summaries;
  graph.on("/job:worker/task:0", [&] { summaries.histogram("weights", weights); });
  BOOST_TEST(summaries.fetches()[0].node().device == "/job:ps/task:0");
  Session session(cluster.server("worker", 0).target(), graph);
  session.initialize_variables();
  const auto values = summaries.values(session.run(summaries.fetches()));
  BOOST_TEST(get<HistogramSummary>(values, "weights").sum == 2000);
}

BOOST_AUTO_TEST_CASE(mistakes_name_the_tag) {
  Graph graph;
  Summaries summaries;
  const Output vector = graph.constant(Tensor::zeros(DType::float32, {3}));
  const Output scalar = graph.constant(1.0);
  summaries.scalar("a", scalar);
  BOOST_CHECK_EXCEPTION(summaries.scalar("a", scalar), Error,
                        [](const Error& e) { return names(e, "the tag 'a'"); });
  BOOST_CHECK_EXCEPTION(summaries.scalar("b", vector), Error,
                        [](const Error& e) { return names(e, "'b': expected a scalar"); });
  BOOST_CHECK_EXCEPTION(summaries.scalar("c", graph.constant("text")), Error,
                        [](const Error& e) { return names(e, "'c': expected a scalar"); });
  BOOST_CHECK_EXCEPTION(summaries.image("d", vector), Error, [](const Error& e) {
    return names(e, "'d': expected float32 or uint8 images");
  });
  BOOST_CHECK_EXCEPTION(summaries.scalar("", scalar), Error,
                        [](const Error& e) { return names(e, "needs a tag"); });
  BOOST_CHECK_EXCEPTION(summaries.values({}), Error,
                        [](const Error& e) { return names(e, "expected the 1 tensors"); });
}

BOOST_AUTO_TEST_CASE(images_have_1_3_or_4_channels) {
  BOOST_CHECK_EXCEPTION(image_summary("tag", Tensor::zeros(DType::uint8, {1, 2, 2, 2}), 0), Error,
                        [](const Error& e) { return names(e, "'tag'"); });
  for (const int channels : {1, 3, 4})
    BOOST_TEST(image_summary("tag", Tensor::zeros(DType::float32, {1, 2, 2, channels}), 0).channels ==
               channels);
}

BOOST_AUTO_TEST_SUITE_END()
