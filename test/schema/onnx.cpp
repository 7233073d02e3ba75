// ONNX files: what is encoded is decoded again, and damage is found.
#include <boost/test/unit_test.hpp>
#include <string>

#include "dataflow/values/error.h"
#include "schema/onnx/onnx.h"
#include "schema/onnx/onnx.pb.h"
#include "test/schema/support/zero_weights.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(onnx)

using namespace actorflow;
using test::says, test::ZeroWeights;
namespace pb = actorflow::onnx;  // the suite is an onnx, too

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
                          {"ss", std::vector<std::string>{"a", ""}},
                          {"t", Tensor::of<std::int64_t>({2}, {7, 8})}}});
  model.initializers = {{"w", Tensor::of<float>({2, 2}, {1, 2, 3, 4})},
                        {"d", Tensor::of<double>({1}, {0.5})},
                        {"b", Tensor::of<std::uint8_t>({3}, {1, 2, 255})},
                        {"s", Tensor::of<std::string>({2}, {"a", ""})},
                        {"h", Tensor{Float16(1.5), Float16(-65504)}},
                        {"bf", Tensor{BFloat16(1.5), BFloat16(1e30)}},
                        {"i8", Tensor::of<std::int8_t>({2}, {-128, 127})},
                        {"i16", Tensor::of<std::int16_t>({2}, {-32768, 32767})},
                        {"none", Tensor::zeros(DType::int32, {0, 4})}};
  return model;
}

OnnxModel decoded(std::span<const std::byte> bytes) {
  ZeroWeights none;
  return decode_onnx(bytes, none);
}

std::vector<std::byte> bytes_of(const pb::ModelProto& model) {
  const std::string text = model.SerializeAsString();
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

// A float32 tensor in a file of weights.
void add_external(pb::ModelProto& model, const std::string& name, const std::vector<std::int64_t>& dims,
                  std::int64_t offset) {
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx_type(DType::float32));
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  tensor.set_data_location(pb::TensorProto::EXTERNAL);
  for (const auto& [key, value] :
       {std::pair<std::string, std::string>("location", "model.weights"),
        std::pair<std::string, std::string>("offset", std::to_string(offset))}) {
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
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
  BOOST_TEST(
      (std::get<std::vector<std::string>>(node.attrs.at("ss")) == std::vector<std::string>{"a", ""}));
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

// Memory is that of the file, however many tensors name its bytes.
BOOST_AUTO_TEST_CASE(tensors_share_the_bytes_of_a_file_or_have_their_own) {
  pb::ModelProto model;
  model.add_opset_import()->set_version(onnx_opset);
  add_external(model, "a", {250}, 0);
  add_external(model, "again", {10, 25}, 0);
  ZeroWeights weights(1000);
  const auto read = decode_onnx(bytes_of(model), weights).initializers;
  BOOST_TEST(read.at("a").data() == read.at("again").data());
  BOOST_TEST((read.at("again").shape() == Shape{10, 25}));
  add_external(model, "overlapping", {249}, 4);
  BOOST_CHECK_EXCEPTION(decode_onnx(bytes_of(model), weights), Error, says("overlap"));
}

BOOST_AUTO_TEST_CASE(what_is_there_twice_or_has_no_type_is_damage) {
  const auto check = [](auto&& change, const char* text) {
    pb::ModelProto model;
    model.add_opset_import()->set_version(onnx_opset);
    change(*model.mutable_graph());
    BOOST_CHECK_EXCEPTION(decoded(bytes_of(model)), Error, [text](const Error& error) {
      return error.code() == Code::data_loss && says(text)(error);
    });
  };
  const auto add = [](pb::GraphProto& graph, int type, std::string raw) {
    auto& tensor = *graph.add_initializer();
    tensor.set_name("t");
    tensor.set_data_type(type);
    tensor.add_dims(1);
    tensor.set_raw_data(std::move(raw));
  };
  check([&](auto& graph) { add(graph, onnx_type(DType::boolean), "\x02"); }, "neither 0 nor 1");
  check(
      [&](auto& graph) {
        add(graph, onnx_type(DType::uint8), "a");
        add(graph, onnx_type(DType::uint8), "a");
      },
      "two tensors 't'");
  check([](auto& graph) { graph.add_node()->add_attribute()->set_name("strides"); }, "'strides'");
}

// As other programs write small tensors: in int32_data, the floating ones as their bits.
BOOST_AUTO_TEST_CASE(elements_of_16_and_8_bits_may_come_as_integers) {
  pb::ModelProto model;
  model.add_opset_import()->set_version(onnx_opset);
  const auto add = [&](const char* name, int type, std::initializer_list<int> values) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    tensor.add_dims(static_cast<std::int64_t>(values.size()));
    for (const int value : values) tensor.add_int32_data(value);
  };
  add("i8", 3, {-128, 127});
  add("i16", 5, {-32768, 32767});
  add("h", 10, {0x3E00, 0xFBFF});
  add("bf", 16, {0x3FC0, 0xC000});
  const auto initializers = decoded(bytes_of(model)).initializers;
  BOOST_TEST(identical(initializers.at("i8"), Tensor::of<std::int8_t>({2}, {-128, 127})));
  BOOST_TEST(identical(initializers.at("i16"), Tensor::of<std::int16_t>({2}, {-32768, 32767})));
  BOOST_TEST(identical(initializers.at("h"), Tensor{Float16(1.5), Float16(-65504)}));
  BOOST_TEST(identical(initializers.at("bf"), Tensor{BFloat16(1.5), BFloat16(-2)}));
}

BOOST_AUTO_TEST_CASE(a_size_of_minus_one_is_not_known) {
  pb::ModelProto model;
  model.add_opset_import()->set_version(onnx_opset);
  auto& type = *model.mutable_graph()->add_input()->mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx_type(DType::float32));
  type.mutable_shape()->add_dim()->set_dim_value(-1);
  BOOST_TEST(std::get<std::string>(decoded(bytes_of(model)).inputs.at(0).shape.value().at(0)).empty());
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
