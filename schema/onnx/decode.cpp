// ONNX models from their files, which may come from anywhere.
#include <algorithm>
#include <charconv>
#include <climits>
#include <cstring>

#include "dataflow/values/error.h"
#include "schema/onnx/onnx.h"
#include "schema/onnx/onnx.pb.h"

namespace actorflow {
namespace {

[[noreturn]] void damaged(const std::string& what) {
  throw Error(Code::data_loss, "this is no whole ONNX model: " + what);
}

// The elements of a shape; all sizes of a tensor in memory fit into the result.
std::int64_t elements_of(const onnx::TensorProto& in) {
  if (in.dims_size() > Shape::max_rank)
    throw Error(Code::unimplemented, "the tensor '" + in.name() + "' has " +
                                         std::to_string(in.dims_size()) + " dimensions; at most " +
                                         std::to_string(Shape::max_rank) + " are there");
  constexpr std::int64_t most = std::int64_t{1} << 40;
  std::int64_t elements = 1;
  for (const std::int64_t dim : in.dims()) {
    if (dim < 0 || dim > most || (dim > 0 && elements > most / dim))
      damaged("the tensor '" + in.name() + "' has a dimension of " + std::to_string(dim));
    elements *= dim;
  }
  return elements;
}

std::uint64_t number_of(const std::string& text, const std::string& tensor) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    damaged("the place of the tensor '" + tensor + "' in a file of weights is '" + text + "'");
  return number;
}

void expect_bytes(const onnx::TensorProto& in, std::uint64_t actual, std::uint64_t expected) {
  if (actual != expected)
    damaged("the tensor '" + in.name() + "' has " + std::to_string(actual) +
            " bytes; its type and shape want " + std::to_string(expected));
}

// A name without a folder.
bool is_plain(const std::string& file) {
  return !file.empty() && file != "." && file != ".." && file.find('/') == std::string::npos &&
         file.find('\0') == std::string::npos;
}

// Where a tensor is in a file of weights.
struct Place {
  std::string file;
  std::uint64_t offset = 0;
};

// Checked before memory is taken for it.
Place place_of(const onnx::TensorProto& in, std::uint64_t bytes, OnnxWeights& weights) {
  Place place;
  std::uint64_t length = bytes;
  for (const auto& entry : in.external_data()) {
    if (entry.key() == "location") place.file = entry.value();
    if (entry.key() == "offset") place.offset = number_of(entry.value(), in.name());
    if (entry.key() == "length") length = number_of(entry.value(), in.name());
  }
  if (!is_plain(place.file))
    damaged("the tensor '" + in.name() + "' is in the file '" + place.file + "'");
  expect_bytes(in, length, bytes);
  const std::uint64_t size = weights.size_bytes(place.file);
  if (place.offset > size || length > size - place.offset)
    damaged("the tensor '" + in.name() + "' has " + std::to_string(length) + " bytes from " +
            std::to_string(place.offset) + " on of the file '" + place.file + "', which has " +
            std::to_string(size));
  return place;
}

template <class T, class Field>
void copy_field(const onnx::TensorProto& in, const Field& field, Tensor& tensor) {
  const auto into = tensor.mutable_values<T>();
  expect_bytes(in, static_cast<std::uint64_t>(field.size()) * sizeof(T), tensor.size_bytes());
  std::ranges::transform(field, into.begin(), [](const auto& value) { return static_cast<T>(value); });
}

void copy_elements(const onnx::TensorProto& in, Tensor& tensor) {
  if (tensor.dtype() == DType::string) {
    if (in.string_data_size() != tensor.elements())
      damaged("the tensor '" + in.name() + "' has " + std::to_string(in.string_data_size()) +
              " texts of " + std::to_string(tensor.elements()));
    std::ranges::copy(in.string_data(), tensor.mutable_values<std::string>().begin());
    return;
  }
  if (!in.raw_data().empty() || tensor.elements() == 0) {
    expect_bytes(in, in.raw_data().size(), tensor.size_bytes());
    if (tensor.size_bytes() > 0)
      std::memcpy(tensor.mutable_data(), in.raw_data().data(), tensor.size_bytes());
    return;
  }
  switch (tensor.dtype()) {
    case DType::float32:
      return copy_field<float>(in, in.float_data(), tensor);
    case DType::float64:
      return copy_field<double>(in, in.double_data(), tensor);
    case DType::int64:
      return copy_field<std::int64_t>(in, in.int64_data(), tensor);
    case DType::int32:
      return copy_field<std::int32_t>(in, in.int32_data(), tensor);
    case DType::uint8:
      return copy_field<std::uint8_t>(in, in.int32_data(), tensor);
    default:
      return copy_field<bool>(in, in.int32_data(), tensor);
  }
}

// No more memory is taken than there are bytes in the file.
void expect_room(const onnx::TensorProto& in, std::int64_t elements) {
  const auto most = static_cast<std::int64_t>(in.raw_data().size()) + in.float_data_size() +
                    in.int32_data_size() + in.int64_data_size() + in.double_data_size() +
                    in.string_data_size();
  if (elements > most)
    damaged("the tensor '" + in.name() + "' has " + std::to_string(elements) +
            " elements, but fewer bytes");
}

Tensor tensor_of(const onnx::TensorProto& in, OnnxWeights& weights) {
  const DType dtype = onnx_dtype(in.data_type());
  if (dtype == DType::invalid)
    throw Error(Code::unimplemented, "the tensor '" + in.name() + "' is of ONNX's type " +
                                         std::to_string(in.data_type()) + ", which is not there");
  const std::int64_t elements = elements_of(in);
  const Shape shape(std::vector<std::int64_t>(in.dims().begin(), in.dims().end()));
  if (in.data_location() != onnx::TensorProto::EXTERNAL || dtype == DType::string) {
    expect_room(in, elements);
    Tensor tensor = Tensor::allocate(dtype, shape);
    copy_elements(in, tensor);
    return tensor;
  }
  const Place place = place_of(in, static_cast<std::uint64_t>(elements) * size_of(dtype), weights);
  Tensor tensor = Tensor::allocate(dtype, shape);
  weights.read(place.file, place.offset,
               {static_cast<std::byte*>(tensor.mutable_data()), tensor.size_bytes()});
  return tensor;
}

void add_attr(OnnxNode& node, const onnx::AttributeProto& in, OnnxWeights& weights) {
  switch (in.type()) {
    case onnx::AttributeProto::INT:
      node.attrs[in.name()] = in.i();
      return;
    case onnx::AttributeProto::FLOAT:
      node.attrs[in.name()] = static_cast<double>(in.f());
      return;
    case onnx::AttributeProto::STRING:
      node.attrs[in.name()] = in.s();
      return;
    case onnx::AttributeProto::INTS:
      node.attrs[in.name()] = std::vector<std::int64_t>(in.ints().begin(), in.ints().end());
      return;
    case onnx::AttributeProto::TENSOR:
      node.attrs[in.name()] = tensor_of(in.t(), weights);
      return;
    default:
      return;
  }
}

OnnxNode node_of(const onnx::NodeProto& in, OnnxWeights& weights) {
  const bool standard = in.domain().empty() || in.domain() == "ai.onnx";
  OnnxNode node{.name = in.name(),
                .op = standard ? in.op_type() : in.domain() + "." + in.op_type(),
                .inputs = {in.input().begin(), in.input().end()},
                .outputs = {in.output().begin(), in.output().end()},
                .attrs = {}};
  for (const auto& attribute : in.attribute()) add_attr(node, attribute, weights);
  return node;
}

OnnxValue value_of(const onnx::ValueInfoProto& in) {
  const auto& type = in.type().tensor_type();
  OnnxValue value{.name = in.name(), .dtype = onnx_dtype(type.elem_type()), .shape = {}};
  if (value.dtype == DType::invalid)
    throw Error(Code::unimplemented, "'" + in.name() + "' is of ONNX's type " +
                                         std::to_string(type.elem_type()) + ", which is not there");
  if (!type.has_shape()) return value;
  if (type.shape().dim_size() > Shape::max_rank)
    throw Error(Code::unimplemented,
                "'" + in.name() + "' has more than " + std::to_string(Shape::max_rank) + " dimensions");
  auto& shape = value.shape.emplace();
  for (const auto& dim : type.shape().dim()) {
    if (dim.value_case() == onnx::TensorShapeProto::Dimension::kDimValue && dim.dim_value() < 0)
      damaged("'" + in.name() + "' has a dimension of " + std::to_string(dim.dim_value()));
    if (dim.value_case() == onnx::TensorShapeProto::Dimension::kDimValue)
      shape.emplace_back(dim.dim_value());
    else
      shape.emplace_back(dim.dim_param());
  }
  return value;
}

std::int64_t opset_of(const onnx::ModelProto& in) {
  for (const auto& opset : in.opset_import())
    if (opset.domain().empty() || opset.domain() == "ai.onnx") return opset.version();
  damaged("it names no operator set");
}

}  // namespace

OnnxModel decode_onnx(std::span<const std::byte> bytes, OnnxWeights& weights) {
  onnx::ModelProto in;
  if (bytes.size() > INT_MAX || !in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    damaged("its " + std::to_string(bytes.size()) + " bytes do not follow Protocol Buffers");
  const auto& graph = in.graph();
  OnnxModel model{.name = graph.name(),
                  .opset = opset_of(in),
                  .inputs = {},
                  .outputs = {},
                  .nodes = {},
                  .initializers = {}};
  for (const auto& initializer : graph.initializer())
    model.initializers.insert_or_assign(initializer.name(), tensor_of(initializer, weights));
  for (const auto& node : graph.node()) model.nodes.push_back(node_of(node, weights));
  // Older models list what they hold among their inputs.
  for (const auto& value : graph.input())
    if (!model.initializers.contains(value.name())) model.inputs.push_back(value_of(value));
  for (const auto& value : graph.output()) model.outputs.push_back(value_of(value));
  return model;
}

}  // namespace actorflow
