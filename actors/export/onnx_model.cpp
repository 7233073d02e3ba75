#include "actors/export/onnx_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "actors/export/onnx_context.h"
#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

const OnnxTranslations& translations() {
  static const OnnxTranslations all = [] {
    OnnxTranslations merged = onnx_elementwise_translations();
    merged.merge(onnx_shape_translations());
    merged.merge(onnx_layer_translations());
    merged.merge(onnx_recurrent_translations());
    return merged;
  }();
  return all;
}

const Graph& graph_of(const Signature& signature) { return *signature.outputs.begin()->second.graph; }

// A tensor's name and type in the model. Unknown dimensions of inputs get names; for outputs the runtime
// derives them.
OnnxValue value_of(const std::string& name, const TensorType& type, bool is_input) {
  OnnxValue value{name, type.dtype, std::nullopt};
  if (!type.shape.has_rank()) return value;
  value.shape.emplace();
  for (int axis = 0; axis < type.shape.rank(); ++axis) {
    if (type.shape[axis] != Shape::unknown)
      value.shape->emplace_back(type.shape[axis]);
    else if (is_input)
      value.shape->emplace_back(axis == 0 ? "batch" : fmt::format("{}_{}", name, axis));
    else
      value.shape->emplace_back(std::string());
  }
  return value;
}

// Makes the model of one signature, and gathers everything that stands in its way.
class ModelMaker {
 public:
  ModelMaker(const Signature& signature, const std::map<std::string, Tensor>& values)
      : signature_(signature), values_(values), graph_(graph_of(signature).def()) {}

  OnnxModel make(const std::string& name) {
    OnnxModel model;
    model.name = name;
    for (const auto& [key, input] : signature_.inputs) {
      builder_.reserve(key);
      names_[input.edge] = key;
      model.inputs.push_back(value_of(key, input.type(), true));
    }
    for (const auto& entry : signature_.outputs) builder_.reserve(entry.first);
    for (const NodeId id : needed_nodes(signature_)) translate(id);
    throw_if_refused();
    for (const auto& [key, output] : signature_.outputs) {
      builder_.name_output(names_.at(output.edge), key);
      model.outputs.push_back(value_of(key, output.type(), false));
    }
    return builder_.finish(std::move(model));
  }

 private:
  void translate(NodeId id) {
    const Node& node = graph_.node(id);
    try {
      const std::string output = translated(node);
      // An input may be any tensor, also one whose node is needed for another output.
      names_.try_emplace({id, 0}, output);
    } catch (const Error& error) {
      if (error.code() != Code::unimplemented) throw;
      refused_.push_back(error.what());
      names_.try_emplace({id, 0}, node.name);
    }
  }

  std::string translated(const Node& node) {
    if (node.op == &const_op()) return builder_.constant(node.name, attr<Tensor>(node, "value"));
    if (node.op == &read_variable_op()) return variable(node);
    if (node.op == &placeholder_op())
      throw invalid_argument(fmt::format(
          "the outputs need the placeholder '{}', which is not among the signature's inputs ({})",
          node.name, fmt::join(input_keys(), ", ")));
    std::vector<std::string> inputs;
    for (const Edge& edge : node.inputs) inputs.push_back(name_of(edge));
    OnnxContext context(graph_, node, std::move(inputs), builder_);
    const auto found = translations().find(node.op->name);
    if (found == translations().end()) context.refuse("ONNX has no operator for it that is known here");
    return found->second(context);
  }

  std::string variable(const Node& node) {
    const auto& name = attr<std::string>(node, "variable");
    const auto found = values_.find(name);
    if (found == values_.end())
      throw Error(Code::not_found,
                  fmt::format("there is no value for the variable '{}' among {}", name, values_.size()));
    const TensorType& type = node.outputs[0];
    if (found->second.dtype() != type.dtype || found->second.shape() != type.shape)
      throw invalid_argument(fmt::format("the variable '{}' is {}, but the value given for it {}", name,
                                         type.to_string(), found->second.describe()));
    return builder_.constant("variable " + name, name, found->second);
  }

  // The name of a needed node's output. Only output 0 has one: translations give no other.
  std::string name_of(Edge edge) {
    const auto found = names_.find(edge);
    if (found != names_.end()) return found->second;
    const Node& node = graph_.node(edge.node);
    refused_.push_back(fmt::format("node '{}' ({}): only its output 0 can be used, not output {}",
                                   node.name, node.op->name, edge.output));
    return node.name;
  }

  std::vector<std::string> input_keys() const {
    std::vector<std::string> keys;
    for (const auto& entry : signature_.inputs) keys.push_back(entry.first);
    return keys;
  }

  void throw_if_refused() {
    for (const auto& entry : signature_.outputs) name_of(entry.second.edge);
    if (!refused_.empty())
      throw Error(Code::unimplemented, fmt::format("{} nodes cannot be exported as ONNX: {}",
                                                   refused_.size(), fmt::join(refused_, "; ")));
  }

  const Signature& signature_;
  const std::map<std::string, Tensor>& values_;
  const GraphDef& graph_;
  OnnxBuilder builder_;
  std::map<Edge, std::string> names_;  // in the model
  std::vector<std::string> refused_;
};

}  // namespace

std::set<NodeId> needed_nodes(const Signature& signature) {
  if (signature.outputs.empty()) throw invalid_argument("a signature needs at least one output");
  const Graph& graph = graph_of(signature);
  std::set<Edge> given;
  std::vector<Edge> open;
  const auto check = [&](const std::string& key, const Output& tensor) {
    expect_in_graph(graph, tensor, fmt::format("'{}' of a signature", key));
  };
  for (const auto& [key, input] : signature.inputs) {
    check(key, input);
    if (!given.insert(input.edge).second)
      throw invalid_argument(fmt::format("input '{}' of a signature is there under another name", key));
  }
  for (const auto& [key, output] : signature.outputs) {
    check(key, output);
    open.push_back(output.edge);
  }
  std::set<NodeId> needed;
  while (!open.empty()) {
    const Edge edge = open.back();
    open.pop_back();
    if (given.contains(edge) || !needed.insert(edge.node).second) continue;
    const auto& inputs = graph.def().node(edge.node).inputs;
    open.insert(open.end(), inputs.begin(), inputs.end());
  }
  return needed;
}

OnnxModel make_onnx_model(const std::string& name, const Signature& signature,
                          const std::map<std::string, Tensor>& values) {
  needed_nodes(signature);  // checks it
  return ModelMaker(signature, values).make(name);
}

}  // namespace actorflow
