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
#include "kernels/core/function_region.h"
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

}  // namespace

GraphFunction::GraphFunction(const std::vector<Output>& inputs, const std::vector<Output>& outputs,
                             std::map<std::string, Tensor> variables)
    : inputs_(inputs.size()) {
  if (outputs.empty()) throw invalid_argument("a graph as a function has one output at least");
  const GraphDef& graph = outputs[0].graph->def();
  for (const auto& input : inputs)
    expect_in_graph(*outputs[0].graph, input, "an input of a graph as a function");
  for (const auto& output : outputs)
    expect_in_graph(*outputs[0].graph, output, "an output of a graph as a function");
  auto feeds = edges_of(inputs);
  for (const Edge read : variable_reads(graph, feeds, edges_of(outputs))) {
    feeds.push_back(read);
    variables_.push_back(value_of(graph.node(read.node), variables));
  }
  auto function = function_region(graph, feeds, edges_of(outputs));
  used_ = std::move(function.inputs);
  body_ = std::make_shared<const RegionBody>(std::move(function.region), builtin_ops(), DeviceType::cpu);
}

std::vector<Tensor> GraphFunction::operator()(std::vector<Tensor> inputs) const {
  if (inputs.size() != inputs_)
    throw invalid_argument(
        fmt::format("the graph takes {} tensors, but the record gives {}", inputs_, inputs.size()));
  inputs.insert(inputs.end(), variables_.begin(), variables_.end());
  std::vector<Tensor> needed;
  for (const auto i : used_) needed.push_back(std::move(inputs[i]));
  return body_->run(needed, cpu_device());
}

}  // namespace actorflow
