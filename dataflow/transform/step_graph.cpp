#include "dataflow/transform/step_graph.h"

#include <map>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/unique_names.h"
#include "dataflow/transform/optimise.h"

namespace actorflow {
namespace {

void check_node(const GraphDef& graph, NodeId id) {
  if (id < 0 || id >= graph.size())
    throw invalid_argument("the graph has " + std::to_string(graph.size()) +
                           " nodes; there is no node " + std::to_string(id));
}

void check_edge(const GraphDef& graph, Edge edge) {
  check_node(graph, edge.node);
  const auto& node = graph.node(edge.node);
  if (edge.output < 0 || edge.output >= static_cast<int>(node.outputs.size()))
    throw invalid_argument("node '" + node.name + "' (" + std::string(node.op->name) + ") has " +
                           std::to_string(node.outputs.size()) + " outputs; there is no output " +
                           std::to_string(edge.output));
}

// The Args, then the nodes of the source in their order, then the Retvals.
class StepBuilder {
 public:
  StepBuilder(const GraphDef& source, const std::vector<Edge>& feeds)
      : source_(source), names_(source), shift_(static_cast<NodeId>(feeds.size())) {
    for (const auto& feed : feeds) add_arg(feed);
    for (Node node : source.nodes) {
      for (auto& input : node.inputs) input = moved(input);
      for (auto& control : node.controls) control = moved(control);
      step_.graph.nodes.push_back(std::move(node));
    }
  }

  void add_retval(Edge fetch) {
    check_edge(source_, fetch);
    const auto index = static_cast<std::int64_t>(step_.roots.size());
    step_.roots.push_back(append("/retval", retval_op(), fetch, {{"index", index}}, {moved(fetch)}));
  }

  void add_target(NodeId target) {
    check_node(source_, target);
    step_.roots.push_back(moved(target));
  }

  StepGraph take() { return std::move(step_); }

 private:
  void add_arg(Edge feed) {
    check_edge(source_, feed);
    const auto& type = source_.type(feed);
    const auto arg = append(
        "/arg", arg_op(), feed,
        {{"index", std::int64_t{step_.graph.size()}}, {"dtype", type.dtype}, {"shape", type.shape}});
    if (!args_.emplace(feed, arg).second)
      throw invalid_argument("output " + std::to_string(feed.output) + " of node '" +
                             source_.node(feed.node).name + "' is fed twice");
  }

  // A node beside the one that makes `edge`.
  NodeId append(const char* suffix, const OpDef& op, Edge edge, Attrs attrs,
                std::vector<Edge> inputs = {}) {
    const Node& beside = source_.node(edge.node);
    Node node{.name = names_.take(beside.name + suffix),
              .op = &op,
              .inputs = std::move(inputs),
              .controls = {},
              .attrs = std::move(attrs),
              .device = beside.device,
              .outputs = {}};
    infer_node(node, input_types(step_.graph, node));
    step_.graph.nodes.push_back(std::move(node));
    return step_.graph.size() - 1;
  }

  Edge moved(Edge edge) const {
    const auto arg = args_.find(edge);
    return arg == args_.end() ? Edge{edge.node + shift_, edge.output} : Edge{arg->second, 0};
  }

  // The new number of a node. A node with a fed output is its Arg: running it means taking the feed.
  NodeId moved(NodeId id) const {
    const auto arg = args_.lower_bound({id, 0});
    return arg == args_.end() || arg->first.node != id ? id + shift_ : arg->second;
  }

  const GraphDef& source_;
  UniqueNames names_;
  NodeId shift_;
  std::map<Edge, NodeId> args_;
  StepGraph step_;
};

void check_all_fed(const GraphDef& graph) {
  std::string missing;
  for (const auto& node : graph.nodes)
    if (node.op == &placeholder_op())
      missing += (missing.empty() ? "node '" : "\nnode '") + node.name +
                 "' (Placeholder) must be fed; feed it a tensor of " + node.outputs[0].to_string();
  if (!missing.empty()) throw invalid_argument(missing);
}

}  // namespace

StepGraph make_step(const GraphDef& graph, const std::vector<Edge>& feeds,
                    const std::vector<Edge>& fetches, const std::vector<NodeId>& targets) {
  StepBuilder builder(graph, feeds);
  for (const auto& fetch : fetches) builder.add_retval(fetch);
  for (auto target : targets) builder.add_target(target);
  StepGraph step = builder.take();
  apply(step, prune(step.graph, step.roots));
  check_all_fed(step.graph);
  return step;
}

}  // namespace actorflow
