// ONNX files: what is encoded is decoded again, and damage is found.
#include <boost/test/unit_test.hpp>
#include <string>

#include "dataflow/values/error.h"
#include "schema/onnx/onnx.h"
#include "test/schema/support/zero_weights.h"
#include "test/support/says.h"

using namespace actorflow;
using test::says, test::ZeroWeights;

namespace {

OnnxModel all_kinds() {
  OnnxModel model{.name = "kinds",
                  .inputs = {{"x", DType::int64, {{"batch", 3}}}, {"z", DType::string, {}}},
                  .outputs = {{"y", DType::float32, {{}}}},
                  .nodes = {},
                  .initializers = {}};
  model.nodes.push_back({"n",
                         "Op",
                         {"x", "", "w"},
                         {"y", "u"},
                         {{"i", std::int64_t{-5}},
                          {"f", 0.25},
                          {"s", std::string("text")},
                          {"is", std::vector<std::int64_t>{1, 2}},
                          {"t", Tensor::of<std::int64_t>({2}, {7, 8})}}});
  model.initializers = {{"w", Tensor::of<float>({2, 2}, {1, 2, 3, 4})},
                        {"d", Tensor::of<double>({1}, {0.5})},
                        {"b", Tensor::of<std::uint8_t>({3}, {1, 2, 255})},
                        {"s", Tensor::of<std::string>({2}, {"a", ""})},
                        {"none", Tensor::zeros(DType::int32, {0, 4})}};
  return model;
}

OnnxModel decoded(std::span<const std::byte> bytes) {
  ZeroWeights none;
  return decode_onnx(bytes, none);
}

Code code_of(std::span<const std::byte> bytes) {
  try {
    decoded(bytes);
  } catch (const Error& error) {
    return error.code();
  }
  return Code::ok;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx)

BOOST_AUTO_TEST_CASE(a_model_is_the_same_after_encoding_and_decoding) {
  const OnnxModel model = all_kinds();
  const OnnxModel again = decoded(encode_onnx(model).model);
  BOOST_TEST(again.name == "kinds");
  BOOST_TEST(again.opset == onnx_opset);
  BOOST_TEST_REQUIRE(again.inputs.size() == 2U);
  BOOST_TEST_REQUIRE(again.inputs[0].shape.has_value());
  BOOST_TEST(std::get<std::string>(again.inputs[0].shape->at(0)) == "batch");
  BOOST_TEST(std::get<std::int64_t>(again.inputs[0].shape->at(1)) == 3);
  BOOST_TEST(!again.inputs[1].shape);
  BOOST_TEST(again.outputs.at(0).shape.value().empty());
  const OnnxNode& node = again.nodes.at(0);
  BOOST_TEST(node.inputs == model.nodes[0].inputs, boost::test_tools::per_element());
  BOOST_TEST(node.outputs == model.nodes[0].outputs, boost::test_tools::per_element());
  BOOST_TEST(std::get<std::int64_t>(node.attrs.at("i")) == -5);
  BOOST_TEST(std::get<double>(node.attrs.at("f")) == 0.25);
  BOOST_TEST(std::get<std::string>(node.attrs.at("s")) == "text");
  BOOST_TEST(
      (std::get<std::vector<std::int64_t>>(node.attrs.at("is")) == std::vector<std::int64_t>{1, 2}));
  BOOST_TEST(identical(std::get<Tensor>(node.attrs.at("t")), Tensor::of<std::int64_t>({2}, {7, 8})));
  BOOST_TEST_REQUIRE(again.initializers.size() == model.initializers.size());
  for (const auto& [name, tensor] : model.initializers)
    BOOST_TEST(identical(again.initializers.at(name), tensor), name);
}

// Each prefix, and each byte changed, is a model or an error.
BOOST_AUTO_TEST_CASE(damage_is_an_error) {
  auto bytes = encode_onnx(all_kinds()).model;
  const auto is_known = [](Code code) {
    return code == Code::ok || code == Code::data_loss || code == Code::unimplemented ||
           code == Code::not_found;
  };
  for (std::size_t size = 0; size < bytes.size(); ++size)
    BOOST_TEST(is_known(code_of(std::span(bytes).first(size))), size);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int change : {1, 0x80, 0xff}) {
      const std::byte before = bytes[i];
      bytes[i] ^= static_cast<std::byte>(change);
      BOOST_TEST(is_known(code_of(bytes)), i);
      bytes[i] = before;
    }
  BOOST_TEST((code_of({}) == Code::data_loss));
}

BOOST_AUTO_TEST_CASE(weights_are_read_from_their_file) {
  OnnxModel model = all_kinds();
  const Tensor large = Tensor::zeros(DType::float32, {3000});
  model.initializers["large"] = large;
  const auto bytes = encode_onnx(model, "model.weights").model;
  ZeroWeights weights;
  weights.size = large.size_bytes();
  BOOST_TEST(identical(decode_onnx(bytes, weights).initializers.at("large"), large));
  BOOST_TEST(weights.names == std::vector<std::string>{"model.weights"},
             boost::test_tools::per_element());
  --weights.size;
  BOOST_CHECK_EXCEPTION(decode_onnx(bytes, weights), Error, says("model.weights"));
}

BOOST_AUTO_TEST_CASE(weights_of_another_folder_are_not_read) {
  OnnxModel model = all_kinds();
  model.initializers["large"] = Tensor::zeros(DType::float32, {3000});
  for (const char* file : {"../secret", "/etc/passwd", ".."}) {
    ZeroWeights weights;
    weights.size = 1 << 20;
    BOOST_CHECK_EXCEPTION(decode_onnx(encode_onnx(model, file).model, weights), Error, says(file));
    BOOST_TEST(weights.names.empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
