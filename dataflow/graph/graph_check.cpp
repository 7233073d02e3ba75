// What a graph must be: attributes, types, references, names.
#include <algorithm>
#include <iterator>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/graph.h"
#include "dataflow/values/check.h"
#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

void check_arity(const Node& node) {
  const auto count = static_cast<int>(node.inputs.size());
  if (count >= node.op->min_inputs && count <= node.op->max_inputs) return;
  std::string expected = std::to_string(node.op->min_inputs);
  if (node.op->max_inputs == OpDef::any_number)
    expected += " or more";
  else if (node.op->max_inputs != node.op->min_inputs)
    expected += " to " + std::to_string(node.op->max_inputs);
  throw invalid_argument("node " + quoted(node.name) + " (" + std::string(node.op->name) +
                         "): expected " + expected + " inputs, got " + std::to_string(count));
}

void check_attrs(Node& node) {
  for (const auto& def : node.op->attrs) {
    const auto found = node.attrs.find(def.name);
    if (found == node.attrs.end() && !def.required)
      node.attrs.emplace(std::string(def.name), def.example);
    else if (found == node.attrs.end())
      find_attr(node, def.name);  // throws
    else if (found->second.index() != def.example.index())
      throw invalid_argument("node " + quoted(node.name) + " (" + std::string(node.op->name) +
                             "): attribute '" + std::string(def.name) + "' must be of kind " +
                             std::string(kind_of(def.example)) + ", but is of kind " +
                             std::string(kind_of(found->second)));
  }
  for (const auto& [name, value] : node.attrs) {
    const auto known = [&name = name](const AttrDef& def) { return def.name == name; };
    if (std::ranges::none_of(node.op->attrs, known))
      throw invalid_argument("node " + quoted(node.name) + ": op " + std::string(node.op->name) +
                             " has no attribute '" + name + "'");
  }
}

void add_line(std::string& lines, const std::string& line) {
  if (!line.empty()) lines += (lines.empty() ? "" : "\n") + line;
}

// Checks the nodes of a graph in their order, from `first` on, and collects what is wrong.
class GraphChecker {
 public:
  explicit GraphChecker(GraphDef& graph, NodeId first = 0)
      : graph_(graph), first_(first), untyped_(graph.nodes.size()) {}

  std::string mistakes() {
    for (NodeId id = 0; id < first_; ++id) names_.emplace(graph_.node(id).name, id);
    for (NodeId id = first_; id < graph_.size(); ++id) check(id);
    return std::move(mistakes_);
  }

 private:
  void check(NodeId id) {
    Node& node = graph_.node(id);
    if (const auto [other, fresh] = names_.emplace(node.name, id); !fresh)
      add_line(mistakes_, other->second < first_ ? "the graph already has a node " + quoted(node.name)
                                                 : "two nodes are named " + quoted(node.name));
    const auto reference = bad_reference(id);
    add_line(mistakes_, reference);
    check_device(node);
    untyped_[static_cast<std::size_t>(id)] = !reference.empty() || !infer(node);
  }

  void check_device(const Node& node) {
    try {
      DeviceName::parse(node.device);
    } catch (const Error& error) {
      add_line(mistakes_, "node " + quoted(node.name) + ": " + error.what());
    }
  }

  // Sets the types of the node; false if it has none. If an input has no types, that mistake has been
  // reported already.
  bool infer(Node& node) {
    if (std::ranges::any_of(node.inputs, [this](Edge edge) { return is_untyped(edge.node); }))
      return false;
    try {
      infer_node(node, input_types(graph_, node));
      return true;
    } catch (const Error& error) {
      add_line(mistakes_, error.what());
      return false;
    }
  }

  // The first input that is not an output of an earlier node; "" if there is none.
  std::string bad_reference(NodeId id) const {
    const Node& node = graph_.node(id);
    for (const auto& edge : node.inputs) {
      if (const auto bad = bad_order("input", id, edge.node); !bad.empty()) return bad;
      const Node& input = graph_.node(edge.node);
      if (is_untyped(edge.node)) continue;
      if (edge.output < 0 || edge.output >= static_cast<int>(input.outputs.size()))
        return "node " + quoted(node.name) + ": its input " + quoted(input.name) + " has no output " +
               std::to_string(edge.output);
    }
    for (auto control : node.controls)
      if (const auto bad = bad_order("control input", id, control); !bad.empty()) return bad;
    return {};
  }

  std::string bad_order(const std::string& kind, NodeId id, NodeId input) const {
    const auto where = "node " + quoted(graph_.node(id).name) + ": its " + kind + " ";
    if (input < 0 || input >= graph_.size()) return where + std::to_string(input) + " does not exist";
    if (input < id) return {};
    return where + quoted(graph_.node(input).name) +
           " is not an earlier node; the graph has a cycle or is not in topological order";
  }

  bool is_untyped(NodeId id) const { return untyped_[static_cast<std::size_t>(id)]; }

  GraphDef& graph_;
  NodeId first_;
  std::vector<bool> untyped_;
  std::unordered_map<std::string_view, NodeId> names_;
  std::string mistakes_;
};

}  // namespace

std::vector<TensorType> input_types(const GraphDef& graph, const Node& node) {
  std::vector<TensorType> types;
  types.reserve(node.inputs.size());
  for (const auto& edge : node.inputs) {
    ACTORFLOW_CHECK(0 <= edge.node && edge.node < graph.size(), node.name, "takes node", edge.node, "of",
                    graph.size());
    types.push_back(graph.type(edge));
  }
  return types;
}

void infer_node(Node& node, std::span<const TensorType> inputs) {
  check_arity(node);
  check_attrs(node);
  InferContext context(node, inputs);
  if (node.op->infer) node.op->infer(context);
  node.outputs = context.take_outputs();
}

void infer_graph(GraphDef& graph) {
  if (const auto mistakes = GraphChecker(graph).mistakes(); !mistakes.empty())
    throw invalid_argument(mistakes);
}

void extend_graph(GraphDef& graph, std::vector<Node> nodes) {
  const auto first = graph.nodes.size();
  std::ranges::move(nodes, std::back_inserter(graph.nodes));
  const auto mistakes = GraphChecker(graph, static_cast<NodeId>(first)).mistakes();
  if (mistakes.empty()) return;
  graph.nodes.resize(first);
  throw invalid_argument(mistakes);
}

}  // namespace actorflow
