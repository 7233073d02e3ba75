#include "schema/event.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/graph/core_ops.h"
#include "dataflow/values/error.h"
#include "schema/event.pb.h"

BOOST_AUTO_TEST_SUITE(event)

using namespace actorflow;

namespace {

std::vector<Summary> summaries_of(const Event& event) {
  return std::get<std::vector<Summary>>(decode_event(encode_event(event)).what);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_scalar_comes_back) {
  const Event event{12.5, -7, std::vector<Summary>{{"a/b", ScalarSummary{0.25}}}};
  const Event back = decode_event(encode_event(event));
  BOOST_TEST(back.wall_time_s == 12.5);
  BOOST_TEST(back.step == -7);
  const auto summaries = std::get<std::vector<Summary>>(back.what);
  BOOST_TEST_REQUIRE(summaries.size() == 1u);
  BOOST_TEST(summaries[0].tag == "a/b");
  BOOST_TEST(std::get<ScalarSummary>(summaries[0].value).value == 0.25);
}

// As TensorFlow writes it: field 1 double, field 3 string.
BOOST_AUTO_TEST_CASE(a_version_has_tensorflows_bytes) {
  const auto bytes = encode_event({1, 0, Event::Version()});
  using namespace std::string_view_literals;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  BOOST_TEST(text ==
             "\x09\0\0\0\0\0\0\xf0\x3f\x1a\x0d"
             "brain.Event:2"sv);
}

BOOST_AUTO_TEST_CASE(empty_buckets_are_written_as_one) {
  const HistogramSummary histogram{1, 2, 5, 8, 9, {-2, -1, 0, 1, 2, 3, 4}, {0, 0, 0, 2, 0, 3, 0}};
  const auto back =
      std::get<HistogramSummary>(summaries_of({0, 0, std::vector<Summary>{{"h", histogram}}})[0].value);
  BOOST_TEST(back.min == 1);
  BOOST_TEST(back.max == 2);
  BOOST_TEST(back.count == 5);
  BOOST_TEST(back.sum == 8);
  BOOST_TEST(back.sum_of_squares == 9);
  BOOST_TEST(back.limits == (std::vector<double>{0, 1, 2, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST(back.buckets == (std::vector<double>{0, 2, 0, 3, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_histogram_of_nothing_keeps_a_bucket) {
  const HistogramSummary histogram{0, 0, 0, 0, 0, {-1, 0, 1}, {0, 0, 0}};
  const auto back =
      std::get<HistogramSummary>(summaries_of({0, 0, std::vector<Summary>{{"h", histogram}}})[0].value);
  BOOST_TEST(back.limits == std::vector<double>{1}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_image_becomes_png) {
  const ImageSummary image = encode_image(2, 3, 1, std::vector<std::uint8_t>{0, 50, 100, 150, 200, 250});
  BOOST_TEST(image.png.substr(1, 3) == "PNG");
  const auto back =
      std::get<ImageSummary>(summaries_of({0, 0, std::vector<Summary>{{"i", image}}})[0].value);
  BOOST_TEST(back.height == 2);
  BOOST_TEST(back.width == 3);
  BOOST_TEST(back.channels == 1);
  BOOST_TEST(back.png == image.png);
}

BOOST_AUTO_TEST_CASE(an_image_needs_a_byte_for_each_element) {
  BOOST_CHECK_THROW(encode_image(2, 3, 1, std::vector<std::uint8_t>(5)), Error);
  BOOST_CHECK_THROW(encode_image(1, 1, 5, std::vector<std::uint8_t>(5)), Error);
  BOOST_CHECK_THROW(encode_image(0, 1, 1, {}), Error);
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_event_are_refused) {
  const std::vector<std::byte> bytes(10, std::byte{0xff});
  BOOST_CHECK_EXCEPTION(decode_event(bytes), Error,
                        [](const Error& error) { return error.code() == Code::data_loss; });
}

BOOST_AUTO_TEST_CASE(a_graph_keeps_names_inputs_devices_and_shapes) {
  Graph graph;
  const Output a = graph.on("/job:ps/task:1", [&] {
    return graph.placeholder(DType::float32, {Shape::unknown, 3}, "a");
  });
  const Output b = graph.add(add_n_op(), {a, a}, {}, "b");
  const Output c = graph.add(identity_op(), {a}, {}, "c");
  graph.add_control(b, graph.group({c}, "all"));
  events::GraphDef def;
  BOOST_TEST_REQUIRE(def.ParseFromString(encode_tensorflow_graph(graph.def())));
  BOOST_TEST_REQUIRE(def.node_size() == 4);
  BOOST_TEST(def.node(0).op() == "Placeholder");
  BOOST_TEST(def.node(0).device() == "/job:ps/task:1");
  BOOST_TEST(def.node(0).attr().at("dtype").type() == 1);
  BOOST_TEST(def.node(0).attr().at("_output_shapes").list().shape(0).dim(0).size() == -1);
  BOOST_TEST(def.node(0).attr().at("_output_shapes").list().shape(0).dim(1).size() == 3);
  BOOST_TEST(def.node(1).input_size() == 2);
  BOOST_TEST(def.node(1).input(0) == "a");
  BOOST_TEST(def.node(1).attr().at("T").type() == 1);
  BOOST_TEST(def.node(3).input(0) == "^c");
  BOOST_TEST(count_tensorflow_nodes(encode_tensorflow_graph(graph.def())) == 4u);
}

BOOST_AUTO_TEST_CASE(types_have_the_numbers_of_tensorflow) {
  Graph graph;
  const std::pair<DType, int> numbers[] = {{DType::float64, 2},   {DType::int16, 5},
                                           {DType::int8, 6},      {DType::boolean, 10},
                                           {DType::bfloat16, 14}, {DType::float16, 19}};
  for (const auto& [dtype, number] : numbers) graph.placeholder(dtype, {});
  events::GraphDef def;
  BOOST_TEST_REQUIRE(def.ParseFromString(encode_tensorflow_graph(graph.def())));
  for (int i = 0; i < def.node_size(); ++i)
    BOOST_TEST(def.node(i).attr().at("dtype").type() == numbers[i].second);
}

BOOST_AUTO_TEST_SUITE_END()
