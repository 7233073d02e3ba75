#include "schema/onnx/onnx.h"

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "dataflow/values/error.h"
#include "schema/onnx/onnx.pb.h"

namespace actorflow {
namespace {

constexpr std::size_t page_bytes = 4096;

// TensorProto.DataType.
constexpr std::array<std::pair<DType, int>, 11> onnx_types{{{DType::float32, 1},
                                                            {DType::uint8, 2},
                                                            {DType::int8, 3},
                                                            {DType::int16, 5},
                                                            {DType::int32, 6},
                                                            {DType::int64, 7},
                                                            {DType::string, 8},
                                                            {DType::boolean, 9},
                                                            {DType::float16, 10},
                                                            {DType::float64, 11},
                                                            {DType::bfloat16, 16}}};

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.data()), tensor.size_bytes()};
}

// Everything of a tensor but its elements.
void describe(onnx::TensorProto& out, const Tensor& tensor) {
  for (const std::int64_t dim : tensor.shape().dims()) out.add_dims(dim);
  out.set_data_type(onnx_type(tensor.dtype()));
}

void fill(onnx::TensorProto& out, const Tensor& tensor) {
  describe(out, tensor);
  if (tensor.dtype() == DType::string)
    for (const auto& text : tensor.values<std::string>()) out.add_string_data(text);
  else
    out.set_raw_data(tensor.data(), tensor.size_bytes());
}

void fill(onnx::AttributeProto& out, std::int64_t value) {
  out.set_type(onnx::AttributeProto::INT);
  out.set_i(value);
}
void fill(onnx::AttributeProto& out, double value) {
  out.set_type(onnx::AttributeProto::FLOAT);
  out.set_f(static_cast<float>(value));
}
void fill(onnx::AttributeProto& out, const std::string& value) {
  out.set_type(onnx::AttributeProto::STRING);
  out.set_s(value);
}
void fill(onnx::AttributeProto& out, const std::vector<std::int64_t>& value) {
  out.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t element : value) out.add_ints(element);
}
void fill(onnx::AttributeProto& out, const std::vector<std::string>& value) {
  out.set_type(onnx::AttributeProto::STRINGS);
  for (const std::string& element : value) out.add_strings(element);
}
void fill(onnx::AttributeProto& out, const Tensor& value) {
  out.set_type(onnx::AttributeProto::TENSOR);
  fill(*out.mutable_t(), value);
}

void fill(onnx::NodeProto& out, const OnnxNode& node) {
  out.set_name(node.name);
  out.set_op_type(node.op);
  for (const auto& input : node.inputs) out.add_input(input);
  for (const auto& output : node.outputs) out.add_output(output);
  for (const auto& [name, value] : node.attrs) {
    auto& attribute = *out.add_attribute();
    attribute.set_name(name);
    std::visit([&](const auto& kind) { fill(attribute, kind); }, value);
  }
}

void fill(onnx::ValueInfoProto& out, const OnnxValue& value) {
  out.set_name(value.name);
  auto& type = *out.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx_type(value.dtype));
  if (!value.shape) return;
  auto& shape = *type.mutable_shape();
  for (const auto& dim : *value.shape) {
    auto& written = *shape.add_dim();
    if (const auto* size = std::get_if<std::int64_t>(&dim))
      written.set_dim_value(*size);
    else if (const auto& symbol = std::get<std::string>(dim); !symbol.empty())
      written.set_dim_param(symbol);
  }
}

// The file of weights as it grows.
class WeightsFile {
 public:
  explicit WeightsFile(const std::string& name) : name_(name) {}

  // Whether the tensor has gone there, and `out` says where.
  bool take(onnx::TensorProto& out, const Tensor& tensor) {
    if (name_.empty() || tensor.dtype() == DType::string || tensor.size_bytes() < page_bytes)
      return false;
    static constexpr std::array<std::byte, page_bytes> zeros{};
    if (size_bytes_ % page_bytes != 0)
      append(std::span(zeros).first(page_bytes - size_bytes_ % page_bytes));
    describe(out, tensor);
    out.set_data_location(onnx::TensorProto::EXTERNAL);
    add_entry(out, "location", name_);
    add_entry(out, "offset", std::to_string(size_bytes_));
    add_entry(out, "length", std::to_string(tensor.size_bytes()));
    append(bytes_of(tensor));
    return true;
  }
  std::vector<std::span<const std::byte>> take_parts() { return std::move(parts_); }

 private:
  static void add_entry(onnx::TensorProto& out, const std::string& key, const std::string& value) {
    auto& entry = *out.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  void append(std::span<const std::byte> bytes) {
    parts_.push_back(bytes);
    size_bytes_ += bytes.size();
  }

  const std::string& name_;
  std::vector<std::span<const std::byte>> parts_;
  std::size_t size_bytes_ = 0;
};

std::vector<std::byte> serialize(const onnx::ModelProto& model) {
  const std::size_t size = model.ByteSizeLong();
  if (size > INT_MAX)
    throw Error(Code::resource_exhausted,
                "the ONNX model has " + std::to_string(size) +
                    " bytes; the format takes 2 GiB without a file of weights");
  std::vector<std::byte> bytes(size);
  model.SerializeToArray(bytes.data(), static_cast<int>(size));
  return bytes;
}

}  // namespace

int onnx_type(DType dtype) {
  const auto found = std::ranges::find(onnx_types, dtype, &std::pair<DType, int>::first);
  return found == onnx_types.end() ? 0 : found->second;
}

DType onnx_dtype(int type) {
  const auto found = std::ranges::find(onnx_types, type, &std::pair<DType, int>::second);
  return found == onnx_types.end() ? DType::invalid : found->first;
}

OnnxFiles encode_onnx(const OnnxModel& model, const std::string& weights_file) {
  onnx::ModelProto out;
  out.set_ir_version(onnx_ir_version);
  out.set_producer_name("actorflow");
  out.add_opset_import()->set_version(model.opset);
  auto& graph = *out.mutable_graph();
  graph.set_name(model.name);
  WeightsFile weights(weights_file);
  for (const auto& [name, tensor] : model.initializers) {
    auto& initializer = *graph.add_initializer();
    initializer.set_name(name);
    if (!weights.take(initializer, tensor)) fill(initializer, tensor);
  }
  for (const auto& node : model.nodes) fill(*graph.add_node(), node);
  for (const auto& value : model.inputs) fill(*graph.add_input(), value);
  for (const auto& value : model.outputs) fill(*graph.add_output(), value);
  return {serialize(out), weights.take_parts()};
}

}  // namespace actorflow
