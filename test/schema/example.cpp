#include "schema/example.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/values/error.h"

BOOST_AUTO_TEST_SUITE(example)

using namespace actorflow;
using namespace std::string_literals;

namespace {

// What TensorFlow's tutorial on TFRecords writes: a boolean, an integer, a string and a float.
const std::string tutorials =
    "\nR\n\x11\n\x08" "feature0\x12\x05\x1a\x03\n\x01\x00\n\x11\n\x08" "feature1\x12\x05\x1a\x03\n\x01\x04"
    "\n\x14\n\x08" "feature2\x12\x08\n\x06\n\x04goat\n\x14\n\x08" "feature3\x12\x08\x12\x06\n\x04[\xd3|?"s;

auto error_with(Code code, const std::string& part) {
  return [=](const Error& error) {
    BOOST_TEST_INFO(error.what());
    return error.code() == code && std::string(error.what()).find(part) != std::string::npos;
  };
}

}  // namespace

BOOST_AUTO_TEST_CASE(tensorflows_example_is_read) {
  const std::vector<ExampleFeature> features{{"feature3", DType::float32},
                                             {"feature0", DType::int64},
                                             {"feature2", DType::string, {Shape::unknown}},
                                             {"feature1", DType::int64, {1, 1}}};
  check_features(features);
  const Tuple tensors = parse_example(tutorials, features);
  BOOST_TEST(describe(tensors) == "float32[] int64[] string[1] int64[1,1]");
  BOOST_TEST(tensors[0].scalar<float>() == 0.9876F);
  BOOST_TEST(tensors[1].scalar<std::int64_t>() == 0);
  BOOST_TEST(tensors[2].values<std::string>()[0] == "goat");
  BOOST_TEST(tensors[3].values<std::int64_t>()[0] == 4);
}

BOOST_AUTO_TEST_CASE(what_is_written_comes_back) {
  const std::string bytes = encode_example({{"pixels", Tensor::of<float>({2, 2}, {1, 2, 3, -4})},
                                            {"label", Tensor::scalar(std::int64_t{-7})},
                                            {"words", Tensor::of<std::string>({2}, {"", "a\0b"s})}});
  const Tuple tensors = parse_example(
      bytes, std::vector<ExampleFeature>{{"pixels", DType::float32, {Shape::unknown, 2}},
                                         {"label", DType::int64},
                                         {"words", DType::string, {2}}});
  BOOST_TEST(describe(tensors) == "float32[2,2] int64[] string[2]");
  BOOST_TEST(tensors[0].values<float>()[3] == -4);
  BOOST_TEST(tensors[1].scalar<std::int64_t>() == -7);
  BOOST_TEST(tensors[2].values<std::string>()[1] == "a\0b"s);
}

BOOST_AUTO_TEST_CASE(a_missing_feature_has_its_default_or_is_an_error) {
  ExampleFeature feature{"feature9", DType::float32, {2}, Tensor::of<float>({2}, {5, 6})};
  BOOST_TEST(parse_example(tutorials, {{feature}})[0].values<float>()[1] == 6);
  feature.default_value.reset();
  BOOST_CHECK_EXCEPTION(parse_example(tutorials, {{feature}}), Error,
                        error_with(Code::invalid_argument, "feature 'feature9': expected it in every"));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_named) {
  const auto read = [](const ExampleFeature& feature) { parse_example(tutorials, {{feature}}); };
  BOOST_CHECK_EXCEPTION(read({"feature2", DType::int64}), Error,
                        error_with(Code::invalid_argument, "expected int64[], got strings"));
  BOOST_CHECK_EXCEPTION(read({"feature1", DType::int64, {3}}), Error,
                        error_with(Code::invalid_argument, "expected int64[3], got 1 values"));
  BOOST_CHECK_EXCEPTION(read({"feature1", DType::int64, {Shape::unknown, 2}}), Error,
                        error_with(Code::invalid_argument, "expected int64[?,2], got 1 values"));
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_example_are_refused) {
  BOOST_CHECK_EXCEPTION(parse_example("no example", {}), Error,
                        error_with(Code::data_loss, "10 bytes is no tf.train.Example"));
  for (std::size_t size = 1; size < tutorials.size(); ++size)
    BOOST_CHECK_EXCEPTION(parse_example(std::string_view(tutorials).substr(0, size), {}), Error,
                          error_with(Code::data_loss, "is no tf.train.Example"));
}

BOOST_AUTO_TEST_CASE(features_that_no_example_can_have_are_refused) {
  const auto check = [](const ExampleFeature& feature) { check_features({{feature}}); };
  BOOST_CHECK_EXCEPTION(check({"f", DType::float64}), Error,
                        error_with(Code::invalid_argument, "float32, int64 or string"));
  BOOST_CHECK_EXCEPTION(check({"f", DType::int64, {2, Shape::unknown}}), Error,
                        error_with(Code::invalid_argument, "at most the first"));
  BOOST_CHECK_EXCEPTION(check({"f", DType::int64, {2}, Tensor::scalar(1.0F)}), Error,
                        error_with(Code::invalid_argument, "a default value of int64[2]"));
  BOOST_CHECK_EXCEPTION(encode_example({{"f", Tensor::scalar(1.0)}}), Error,
                        error_with(Code::invalid_argument, "feature 'f'"));
}

BOOST_AUTO_TEST_SUITE_END()
