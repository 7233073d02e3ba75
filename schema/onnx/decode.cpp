// ONNX models from their files, which may come from anywhere.
#include <climits>

#include "dataflow/values/error.h"
#include "schema/onnx/decode_tensors.h"

namespace actorflow {
namespace {

void add_attr(OnnxNode& node, const onnx::AttributeProto& in, OnnxTensors& tensors) {
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
    case onnx::AttributeProto::STRINGS:
      node.attrs[in.name()] = std::vector<std::string>(in.strings().begin(), in.strings().end());
      return;
    case onnx::AttributeProto::TENSOR:
      node.attrs[in.name()] = tensors.decode(in.t());
      return;
    case onnx::AttributeProto::UNDEFINED:
      damaged_onnx("the attribute '" + in.name() + "' has no type");
    default:
      return;
  }
}

OnnxNode node_of(const onnx::NodeProto& in, OnnxTensors& tensors) {
  const bool standard = in.domain().empty() || in.domain() == "ai.onnx";
  OnnxNode node{.name = in.name(),
                .op = standard ? in.op_type() : in.domain() + "." + in.op_type(),
                .inputs = {in.input().begin(), in.input().end()},
                .outputs = {in.output().begin(), in.output().end()},
                .attrs = {}};
  for (const auto& attribute : in.attribute()) add_attr(node, attribute, tensors);
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
    const bool has_size = dim.value_case() == onnx::TensorShapeProto::Dimension::kDimValue;
    if (has_size && dim.dim_value() >= 0)
      shape.emplace_back(dim.dim_value());
    else  // some programs write -1 for a size that is not known
      shape.emplace_back(dim.dim_param());
  }
  return value;
}

std::int64_t opset_of(const onnx::ModelProto& in) {
  for (const auto& opset : in.opset_import())
    if (opset.domain().empty() || opset.domain() == "ai.onnx") return opset.version();
  damaged_onnx("it names no operator set");
}

}  // namespace

OnnxModel decode_onnx(std::span<const std::byte> bytes, OnnxWeights& weights) {
  onnx::ModelProto in;
  if (bytes.size() > INT_MAX || !in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    damaged_onnx("its " + std::to_string(bytes.size()) + " bytes do not follow Protocol Buffers");
  const auto& graph = in.graph();
  OnnxModel model{.name = graph.name(),
                  .opset = opset_of(in),
                  .inputs = {},
                  .outputs = {},
                  .nodes = {},
                  .initializers = {}};
  OnnxTensors tensors(weights);
  for (const auto& initializer : graph.initializer())
    if (!model.initializers.try_emplace(initializer.name(), tensors.decode(initializer)).second)
      damaged_onnx("it holds two tensors '" + initializer.name() + "'");
  for (const auto& node : graph.node()) model.nodes.push_back(node_of(node, tensors));
  // Older models list what they hold among their inputs.
  for (const auto& value : graph.input())
    if (!model.initializers.contains(value.name())) model.inputs.push_back(value_of(value));
  for (const auto& value : graph.output()) model.outputs.push_back(value_of(value));
  return model;
}

}  // namespace actorflow
