#include "schema/codec/graph_codec.h"

#include <vector>

#include "dataflow/graph/subgraph.h"
#include "schema/codec/text.h"

namespace actorflow {
namespace {

void write_edges(const std::vector<Edge>& edges, capnp::List<wire::Node::Edge>::Builder to) {
  for (unsigned i = 0; i < to.size(); ++i) {
    to[i].setNode(edges[i].node);
    to[i].setOutput(edges[i].output);
  }
}

std::vector<Edge> read_edges(capnp::List<wire::Node::Edge>::Reader from) {
  std::vector<Edge> edges;
  for (const auto edge : from) edges.push_back({edge.getNode(), edge.getOutput()});
  return edges;
}

struct AttrWriter {
  wire::Node::Attr::Builder to;
  TensorWriter& tensors;

  void operator()(bool value) { to.setBoolean(value); }
  void operator()(std::int64_t value) { to.setInt64(value); }
  void operator()(double value) { to.setFloat64(value); }
  void operator()(const std::string& value) {
    to.setString({reinterpret_cast<const kj::byte*>(value.data()), value.size()});
  }
  void operator()(DType value) { to.setDtype(static_cast<wire::DType>(value)); }
  void operator()(const Shape& value) { write_shape(value, to.initShape()); }
  void operator()(const Tensor& value) { tensors.write(value, to.initTensor()); }
  void operator()(const std::vector<std::int64_t>& value) { to.setInt64s({value.data(), value.size()}); }
  void operator()(const std::vector<double>& value) { to.setFloat64s({value.data(), value.size()}); }
  void operator()(const SubgraphRef& value) {
    auto subgraph = to.initSubgraph();
    if (!value) return;
    write_graph(value->body, tensors, subgraph.initBody());
    write_edges(value->outputs, subgraph.initOutputs(static_cast<unsigned>(value->outputs.size())));
  }
};

template <class T>
std::vector<T> to_vector(typename capnp::List<T>::Reader from) {
  std::vector<T> values;
  values.reserve(from.size());
  for (const T value : from) values.push_back(value);
  return values;
}

AttrValue read_attr(wire::Node::Attr::Reader from, TensorReader& tensors, const OpRegistry& ops) {
  using Attr = wire::Node::Attr;
  switch (from.which()) {
    case Attr::BOOLEAN:
      return from.getBoolean();
    case Attr::INT64:
      return from.getInt64();
    case Attr::FLOAT64:
      return from.getFloat64();
    case Attr::STRING: {
      const auto data = from.getString();
      return std::string(reinterpret_cast<const char*>(data.begin()), data.size());
    }
    case Attr::DTYPE:
      return read_dtype(from.getDtype());
    case Attr::SHAPE:
      return read_shape(from.getShape());
    case Attr::TENSOR:
      return tensors.read(from.getTensor());
    case Attr::INT64S:
      return to_vector<std::int64_t>(from.getInt64s());
    case Attr::FLOAT64S:
      return to_vector<double>(from.getFloat64s());
    case Attr::SUBGRAPH: {
      const auto subgraph = from.getSubgraph();
      return std::make_shared<const Subgraph>(
          Subgraph{read_graph(subgraph.getBody(), tensors, ops), read_edges(subgraph.getOutputs())});
    }
  }
  throw invalid_argument("attribute '" + to_string(from.getName()) + "' is of an unknown kind");
}

void write_node(const Node& node, TensorWriter& tensors, wire::Node::Builder to) {
  to.setName(to_text(node.name));
  to.setOp(std::string(node.op->name).c_str());
  to.setDevice(to_text(node.device));
  write_edges(node.inputs, to.initInputs(static_cast<unsigned>(node.inputs.size())));
  to.setControls({node.controls.data(), node.controls.size()});
  auto attrs = to.initAttrs(static_cast<unsigned>(node.attrs.size()));
  unsigned i = 0;
  for (const auto& [name, value] : node.attrs) {
    auto attr = attrs[i++];
    attr.setName(to_text(name));
    std::visit(AttrWriter{attr, tensors}, value);
  }
}

// Reading stops after this many mistakes: such bytes are no graph.
constexpr int max_mistakes = 1000;

// Collects mistakes, one per line, that begin with the node's name.
class GraphReader {
 public:
  GraphReader(TensorReader& tensors, const OpRegistry& ops) : tensors_(tensors), ops_(ops) {}

  GraphDef read(wire::Graph::Reader from) {
    for (const auto node : from.getNodes()) read_node(node);
    if (mistakes_.empty()) {
      infer_graph(graph_);
      return std::move(graph_);
    }
    check_the_rest();
    throw invalid_argument(mistakes_);
  }

  std::vector<Node> read_unchecked(wire::Graph::Reader from) {
    for (const auto node : from.getNodes()) read_node(node);
    if (!mistakes_.empty()) throw invalid_argument(mistakes_);
    return std::move(graph_.nodes);
  }

 private:
  void read_node(wire::Node::Reader from) {
    Node node;
    node.name = to_string(from.getName());
    node.device = to_string(from.getDevice());
    node.inputs = read_edges(from.getInputs());
    node.controls = to_vector<NodeId>(from.getControls());
    sound_.push_back(true);
    try_to(node, [&] { node.op = &ops_.at(to_string(from.getOp())); });
    for (const auto attr : from.getAttrs())
      try_to(node, [&] {
        if (!node.attrs.emplace(to_string(attr.getName()), read_attr(attr, tensors_, ops_)).second)
          throw invalid_argument("attribute '" + to_string(attr.getName()) + "' is there twice");
      });
    graph_.nodes.push_back(std::move(node));
  }

  template <class Step>
  void try_to(const Node& node, Step&& step) {
    try {
      step();
    } catch (const Error& error) {
      sound_.back() = false;
      add("node '" + node.name + "': " + error.what());
    }
  }

  // The mistakes of the nodes that do not depend on a bad one.
  void check_the_rest() {
    GraphDef rest;
    std::vector<NodeId> new_ids(graph_.nodes.size(), -1);
    for (NodeId id = 0; id < graph_.size(); ++id) {
      Node node = graph_.node(id);
      bool sound = sound_[static_cast<std::size_t>(id)];
      for (auto& input : node.inputs) sound = sound && renumber(input.node, id, new_ids);
      for (auto& control : node.controls) sound = sound && renumber(control, id, new_ids);
      if (!sound) continue;
      new_ids[static_cast<std::size_t>(id)] = rest.size();
      rest.nodes.push_back(std::move(node));
    }
    try {
      infer_graph(rest);
    } catch (const Error& error) {
      add(error.what());
    }
  }

  static bool renumber(NodeId& reference, NodeId id, const std::vector<NodeId>& new_ids) {
    if (reference < 0 || reference >= id)
      return true;  // a mistake in itself, which infer_graph() reports
    reference = new_ids[static_cast<std::size_t>(reference)];
    return reference >= 0;
  }

  void add(const std::string& mistake) {
    mistakes_ += (mistakes_.empty() ? "" : "\n") + mistake;
    if (++num_mistakes_ == max_mistakes)
      throw invalid_argument(mistakes_ + "\n(these are the first " + std::to_string(max_mistakes) +
                             " mistakes; there may be more)");
  }

  TensorReader& tensors_;
  const OpRegistry& ops_;
  GraphDef graph_;
  std::vector<bool> sound_;
  std::string mistakes_;
  int num_mistakes_ = 0;
};

}  // namespace

void write_nodes(const std::vector<Node>& nodes, TensorWriter& tensors, wire::Graph::Builder to) {
  auto list = to.initNodes(static_cast<unsigned>(nodes.size()));
  for (unsigned i = 0; i < list.size(); ++i) write_node(nodes[i], tensors, list[i]);
}

GraphDef read_graph(wire::Graph::Reader from, TensorReader& tensors, const OpRegistry& ops) {
  return GraphReader(tensors, ops).read(from);
}

std::vector<Node> read_nodes(wire::Graph::Reader from, TensorReader& tensors, const OpRegistry& ops) {
  return GraphReader(tensors, ops).read_unchecked(from);
}

}  // namespace actorflow
