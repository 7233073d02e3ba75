// Graphs in TensorFlow's own format, for TensorBoard's graph tab.
#include "dataflow/graph/subgraph.h"
#include "dataflow/values/error.h"
#include "schema/event.h"
#include "schema/event.pb.h"

namespace actorflow {
namespace {

// TensorFlow's DataType; 0 where it has none.
int data_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return 1;
    case DType::float64:
      return 2;
    case DType::int32:
      return 3;
    case DType::uint8:
      return 4;
    case DType::string:
      return 7;
    case DType::int64:
      return 9;
    case DType::boolean:
      return 10;
    case DType::int16:
      return 5;
    case DType::int8:
      return 6;
    case DType::bfloat16:
      return 14;
    case DType::float16:
      return 19;
    default:
      return 0;
  }
}

void fill(events::TensorShapeProto& out, const Shape& shape) {
  out.set_unknown_rank(!shape.has_rank());
  if (!shape.has_rank()) return;
  for (const std::int64_t dim : shape.dims()) out.add_dim()->set_size(dim);
}

void fill(events::AttrValue& out, bool value) { out.set_b(value); }
void fill(events::AttrValue& out, std::int64_t value) { out.set_i(value); }
void fill(events::AttrValue& out, double value) { out.set_f(static_cast<float>(value)); }
void fill(events::AttrValue& out, const std::string& value) { out.set_s(value); }
void fill(events::AttrValue& out, DType value) { out.set_type(data_type(value)); }
void fill(events::AttrValue& out, const Shape& value) { fill(*out.mutable_shape(), value); }
// The graph tab shows what a constant is, not its bytes.
void fill(events::AttrValue& out, const Tensor& value) { out.set_s(value.describe()); }
void fill(events::AttrValue& out, const SubgraphRef& value) {
  out.set_s("a subgraph of " + std::to_string(value ? value->body.size() : 0) + " nodes");
}
void fill(events::AttrValue& out, const std::vector<std::int64_t>& value) {
  for (const std::int64_t element : value) out.mutable_list()->add_i(element);
}
void fill(events::AttrValue& out, const std::vector<double>& value) {
  for (const double element : value) out.mutable_list()->add_f(static_cast<float>(element));
}

std::string input_name(const GraphDef& graph, Edge edge) {
  const std::string& name = graph.node(edge.node).name;
  return edge.output == 0 ? name : name + ":" + std::to_string(edge.output);
}

void fill(events::NodeDef& out, const GraphDef& graph, const Node& node) {
  out.set_name(node.name);
  out.set_op(std::string(node.op->name));
  out.set_device(node.device);
  for (const Edge& edge : node.inputs) out.add_input(input_name(graph, edge));
  for (const NodeId control : node.controls) out.add_input("^" + graph.node(control).name);
  auto& attrs = *out.mutable_attr();
  for (const auto& [name, value] : node.attrs)
    std::visit([&, &key = name](const auto& kind) { fill(attrs[key], kind); }, value);
  if (node.outputs.empty()) return;
  auto& shapes = *attrs["_output_shapes"].mutable_list();
  for (const auto& type : node.outputs) fill(*shapes.add_shape(), type.shape);
  if (!node.attrs.contains("dtype")) attrs["T"].set_type(data_type(node.outputs[0].dtype));
}

}  // namespace

std::string encode_tensorflow_graph(const GraphDef& graph) {
  events::GraphDef out;
  for (const Node& node : graph.nodes) fill(*out.add_node(), graph, node);
  out.mutable_versions()->set_producer(22);  // TensorFlow 1.x
  std::string bytes;
  if (!out.SerializeToString(&bytes))
    throw Error(Code::resource_exhausted, "a graph of " + std::to_string(out.ByteSizeLong()) +
                                              " bytes for TensorBoard; the format takes 2 GiB");
  return bytes;
}

std::size_t count_tensorflow_nodes(const std::string& graph) {
  events::GraphDef in;
  if (!in.ParseFromString(graph)) throw Error(Code::data_loss, "the bytes are no graph of TensorFlow");
  return static_cast<std::size_t>(in.node_size());
}

}  // namespace actorflow
