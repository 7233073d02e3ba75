#include "dataflow/graph/subgraph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "dataflow/graph/core_ops.h"
#include "dataflow/values/check.h"
#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

bool may_be_inside(const Node& node) { return node.op->is_pure() || node.op == &arg_op(); }

// Moves nodes of a graph's end into a subgraph.
class Extraction {
 public:
  // `nodes` had the numbers from `first` on in the graph.
  Extraction(Graph& graph, NodeId first, std::vector<Node> nodes)
      : graph_(graph), first_(first), nodes_(std::move(nodes)), new_id_(nodes_.size(), -1) {}

  // The first `arguments` nodes are Args, which stay even if nothing needs them.
  Captured extract(std::size_t arguments, const std::vector<Edge>& outputs) {
    find_needed(arguments, outputs);
    for (std::size_t i = 0; i < arguments; ++i) move(i);
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (needed_[i])
        for (const Edge input : nodes_[i].inputs) capture_outer(input);
    for (const Edge output : outputs) capture_outer(output);
    for (std::size_t i = arguments; i < nodes_.size(); ++i)
      if (needed_[i]) move(i);
    for (const Edge output : outputs) result_.outputs.push_back(moved(output));
    return {std::make_shared<const Subgraph>(std::move(result_)), std::move(tensors_)};
  }

 private:
  bool is_outer(Edge edge) const { return edge.node < first_; }
  std::size_t place(Edge edge) const { return static_cast<std::size_t>(edge.node - first_); }

  void find_needed(std::size_t arguments, const std::vector<Edge>& outputs) {
    needed_.assign(nodes_.size(), false);
    std::fill_n(needed_.begin(), arguments, true);
    for (const Edge output : outputs)
      if (!is_outer(output)) needed_[place(output)] = true;
    for (std::size_t i = nodes_.size(); i-- > 0;)
      if (needed_[i])
        for (const Edge input : nodes_[i].inputs)
          if (!is_outer(input)) needed_[place(input)] = true;
  }

  void capture_outer(Edge edge) {
    if (!is_outer(edge) || captured_.contains(edge)) return;
    const Output tensor{&graph_, edge};
    Node arg;
    arg.name = "captured" + std::to_string(tensors_.size());
    arg.op = &arg_op();
    arg.attrs = {{"index", static_cast<std::int64_t>(result_.body.size())},
                 {"dtype", tensor.dtype()},
                 {"shape", tensor.shape()}};
    arg.outputs = {tensor.type()};
    captured_[edge] = {result_.body.size(), 0};
    tensors_.push_back(tensor);
    result_.body.nodes.push_back(std::move(arg));
  }

  void move(std::size_t i) {
    new_id_[i] = result_.body.size();
    Node& node = nodes_[i];
    node.controls.clear();  // nothing but the tensors orders pure computations
    node.device.clear();    // that of the op that runs the subgraph counts
    for (Edge& input : node.inputs) input = moved(input);
    result_.body.nodes.push_back(std::move(node));
  }

  Edge moved(Edge edge) const {
    return is_outer(edge) ? captured_.at(edge) : Edge{new_id_[place(edge)], edge.output};
  }

  Graph& graph_;
  NodeId first_;
  std::vector<Node> nodes_;
  std::vector<NodeId> new_id_;
  std::vector<bool> needed_;
  std::map<Edge, Edge> captured_;
  std::vector<Output> tensors_;
  Subgraph result_;
};

void expect_pure(std::string_view what, std::span<const Node> nodes) {
  for (const Node& node : nodes)
    if (!may_be_inside(node))
      throw invalid_argument(std::string(what) + ": node " + quoted(node.name) + " (" +
                             std::string(node.op->name) +
                             ") has an effect or hidden state, but only what follows from tensors is "
                             "computed inside; add it before, and use its result");
}

void expect_one_device(std::string_view what, std::span<const Node> nodes) {
  const auto differs = [&](const Node& node) { return node.device != nodes[0].device; };
  if (const auto other = std::ranges::find_if(nodes, differs); other != nodes.end())
    throw invalid_argument(std::string(what) + ": it runs on one device, but " + quoted(nodes[0].name) +
                           " is for " + quoted(nodes[0].device) + " and " + quoted(other->name) +
                           " for " + quoted(other->device) + "; put the device scope around the whole");
}

std::vector<Output> add_arguments(Graph& graph, const std::vector<TensorType>& types) {
  std::vector<Output> arguments;
  for (const TensorType& type : types)
    arguments.push_back(graph.add(arg_op(), {},
                                  {{"index", static_cast<std::int64_t>(arguments.size())},
                                   {"dtype", type.dtype},
                                   {"shape", type.shape}},
                                  "argument"));
  return arguments;
}

std::vector<Edge> edges_of(const Graph& graph, std::string_view what,
                           const std::vector<Output>& outputs) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    expect_in_graph(graph, outputs[i], std::string(what) + ": result " + std::to_string(i));
    outputs[i].type();  // throws
    edges.push_back(outputs[i].edge);
  }
  return edges;
}

}  // namespace

std::vector<TensorType> Subgraph::input_types() const {
  std::vector<TensorType> types;
  for (const Node& node : body.nodes)
    if (node.op == &arg_op()) types.push_back(node.outputs[0]);
  return types;
}

std::vector<TensorType> Subgraph::output_types() const {
  std::vector<TensorType> types;
  for (const Edge output : outputs) types.push_back(body.type(output));
  return types;
}

bool has_subgraph(const Attrs& attrs) {
  return std::ranges::any_of(
      attrs, [](const auto& attr) { return std::holds_alternative<SubgraphRef>(attr.second); });
}

Captured capture(Graph& graph, std::string_view what, const std::vector<TensorType>& arguments,
                 const GraphFunctionBody& body) {
  Graph::Tail tail(graph);
  const NodeId first = graph.def().size();
  const auto results = graph.without_controls([&] { return body(add_arguments(graph, arguments)); });
  if (tail.has_variables())
    throw invalid_argument(
        std::string(what) +
        ": a variable is made inside; make it before, so that it is there in any case");
  expect_pure(what, tail.nodes());
  expect_one_device(what, tail.nodes());
  const auto outputs = edges_of(graph, what, results);
  return Extraction(graph, first, tail.take()).extract(arguments.size(), outputs);
}

std::vector<Output> add_inline(Graph& graph, const Subgraph& subgraph, std::span<const Output> inputs) {
  std::vector<Output> first_outputs;
  const auto added = [&](Edge edge) {
    return first_outputs[static_cast<std::size_t>(edge.node)].output(
        first_outputs[static_cast<std::size_t>(edge.node)].edge.output + edge.output);
  };
  for (const Node& node : subgraph.body.nodes) {
    if (node.op == &arg_op()) {
      first_outputs.push_back(inputs[first_outputs.size()]);
      continue;
    }
    std::vector<Output> from;
    for (const Edge edge : node.inputs) from.push_back(added(edge));
    first_outputs.push_back(graph.add(*node.op, from, node.attrs, node.name));
  }
  std::vector<Output> outputs;
  for (const Edge edge : subgraph.outputs) outputs.push_back(added(edge));
  return outputs;
}

void expect_subgraph(const InferContext& c, std::string_view attribute, const SubgraphRef& subgraph,
                     std::span<const TensorType> inputs) {
  const std::string what = "a subgraph '" + std::string(attribute) + "' ";
  if (!subgraph) c.fail(what, "none");
  const auto& nodes = subgraph->body.nodes;
  std::size_t args = 0;
  for (; args < nodes.size() && nodes[args].op == &arg_op(); ++args)
    if (attr<std::int64_t>(nodes[args], "index") != static_cast<std::int64_t>(args))
      c.fail(what + "whose arguments are in order", "another order");
  if (args != inputs.size())
    c.fail(what + "of " + std::to_string(inputs.size()) + " inputs", std::to_string(args));
  for (std::size_t i = 0; i < args; ++i) {
    const TensorType& type = nodes[i].outputs[0];
    if (type.dtype != inputs[i].dtype || !type.shape.compatible_with(inputs[i].shape))
      c.fail(what + "whose input " + std::to_string(i) + " is " + inputs[i].to_string(),
             type.to_string());
  }
  for (std::size_t i = args; i < nodes.size(); ++i)
    if (!nodes[i].op->is_pure())
      c.fail(what + "of pure computations",
             quoted(nodes[i].name) + " (" + std::string(nodes[i].op->name) + ")");
  for (const Edge edge : subgraph->outputs)
    if (edge.node < 0 || edge.node >= subgraph->body.size() || edge.output < 0 ||
        static_cast<std::size_t>(edge.output) >= subgraph->body.node(edge.node).outputs.size())
      c.fail(what + "whose results are its tensors",
             "output " + std::to_string(edge.output) + " of node " + std::to_string(edge.node));
}

TensorType common_type(const TensorType& a, const TensorType& b) {
  ACTORFLOW_CHECK(a.dtype == b.dtype, a.to_string(), "and", b.to_string());
  if (!a.shape.has_rank() || !b.shape.has_rank() || a.shape.rank() != b.shape.rank())
    return {a.dtype, a.shape == b.shape ? a.shape : Shape::unknown_rank()};
  Shape shape = a.shape;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] != b.shape[axis]) shape.set(axis, Shape::unknown);
  return {a.dtype, shape};
}

}  // namespace actorflow
