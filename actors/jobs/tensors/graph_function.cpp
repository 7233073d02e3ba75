#include "actors/jobs/tensors/graph_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/graph/tensor_types.h"
#include "dataflow/transform/optimise.h"
#include "dataflow/transform/step_graph.h"
#include "dataflow/values/error.h"
#include "kernels/core/region.h"

namespace actorflow {
namespace {

std::vector<Edge> edges_of(const std::vector<Output>& outputs) {
  std::vector<Edge> edges;
  for (const Output& output : outputs) edges.push_back(output.edge);
  return edges;
}

// Where the step reads variables, as edges of the whole graph.
std::vector<Edge> variable_reads(const GraphDef& graph, const std::vector<Edge>& inputs,
                                 const std::vector<Edge>& outputs) {
  std::vector<bool> needed(graph.nodes.size());
  std::vector<NodeId> open;
  const auto need = [&](Edge edge) {
    if (std::ranges::find(inputs, edge) != inputs.end() || needed[static_cast<std::size_t>(edge.node)])
      return;
    needed[static_cast<std::size_t>(edge.node)] = true;
    open.push_back(edge.node);
  };
  for (const Edge edge : outputs) need(edge);
  std::vector<Edge> reads;
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (graph.node(id).op == &read_variable_op()) reads.push_back({id, 0});
    for (const Edge edge : graph.node(id).inputs) need(edge);
  }
  std::ranges::sort(reads, {}, &Edge::node);
  return reads;
}

Tensor value_of(const Node& read, std::map<std::string, Tensor>& variables) {
  const auto name = attr<std::string>(read, "variable");
  const auto found = variables.find(name);
  if (found == variables.end())
    throw Error(Code::not_found, fmt::format("the graph needs the variable '{}', of which there is no "
                                             "value: give those of a checkpoint or a session",
                                             name));
  const Tensor& value = found->second;
  if (value.dtype() != read.outputs[0].dtype || !read.outputs[0].shape.compatible_with(value.shape()))
    throw invalid_argument(fmt::format("the variable '{}': expected {}, got {}", name,
                                       to_string(read.outputs), value.describe()));
  return value;
}

std::int64_t index_of(const Node& node) { return attr<std::int64_t>(node, "index"); }

// The Args first, in their order, and what the Retvals take as outputs.
Region region_of(const GraphDef& step) {
  std::vector<NodeId> order, retvals;
  for (NodeId id = 0; id < static_cast<NodeId>(step.nodes.size()); ++id) {
    const Node& node = step.node(id);
    if (node.op == &retval_op())
      retvals.push_back(id);
    else if (!node.op->is_pure() && node.op != &arg_op())
      throw invalid_argument(
          fmt::format("node '{}' ({}) has an effect or needs a session: it is no part of a function",
                      node.name, node.op->name));
    else
      order.push_back(id);
  }
  const auto place = [&step](NodeId id) {
    const Node& node = step.node(id);
    return node.op == &arg_op() ? index_of(node) : std::int64_t{1} << 40;
  };
  std::ranges::stable_sort(order, {}, place);
  std::ranges::sort(retvals, {}, [&step](NodeId id) { return index_of(step.node(id)); });

  std::vector<NodeId> new_id(step.nodes.size(), -1);
  Region region;
  const auto moved = [&new_id](Edge edge) {
    return Edge{new_id[static_cast<std::size_t>(edge.node)], edge.output};
  };
  for (const NodeId id : order) {
    new_id[static_cast<std::size_t>(id)] = static_cast<NodeId>(region.body.nodes.size());
    Node node = step.node(id);
    node.controls.clear();
    std::ranges::transform(node.inputs, node.inputs.begin(), moved);
    region.body.nodes.push_back(std::move(node));
  }
  for (const NodeId id : retvals) region.outputs.push_back(moved(step.node(id).inputs[0]));
  return region;
}

}  // namespace

GraphFunction::GraphFunction(const std::vector<Output>& inputs, const std::vector<Output>& outputs,
                             std::map<std::string, Tensor> variables)
    : inputs_(inputs.size()) {
  if (outputs.empty()) throw invalid_argument("a graph as a function has one output at least");
  const GraphDef& graph = outputs[0].graph->def();
  auto feeds = edges_of(inputs);
  for (const Edge read : variable_reads(graph, feeds, edges_of(outputs))) {
    feeds.push_back(read);
    variables_.push_back(value_of(graph.node(read.node), variables));
  }
  const StepGraph step = make_step(graph, feeds, edges_of(outputs), {});
  const GraphDef pruned = prune(step.graph, step.roots).graph;
  body_ = std::make_shared<const RegionBody>(region_of(pruned), builtin_ops(), DeviceType::cpu);
}

std::vector<Tensor> GraphFunction::operator()(std::vector<Tensor> inputs) const {
  if (inputs.size() != inputs_)
    throw invalid_argument(
        fmt::format("the graph takes {} tensors, but the record gives {}", inputs_, inputs.size()));
  inputs.insert(inputs.end(), variables_.begin(), variables_.end());
  return body_->run(inputs, cpu_device());
}

}  // namespace actorflow
