#include "dataflow/transform/optimise.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <unordered_map>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/subgraph.h"
#include "dataflow/values/check.h"

namespace actorflow {
namespace {

constexpr std::size_t max_compared_bytes = 1024;

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.data() == b.data()) return true;
  return a.on_host() && b.on_host() && a.size_bytes() <= max_compared_bytes && identical(a, b);
}

bool same_value(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&b](const auto& value) {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>)
          return same_tensor(value, std::get<T>(b));
        else
          return value == std::get<T>(b);
      },
      a);
}

bool same_attrs(const Attrs& a, const Attrs& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && same_value(x.second, y.second);
  });
}

bool same_computation(const Node& a, const Node& b) {
  return a.op == b.op && a.inputs == b.inputs && a.controls == b.controls && a.device == b.device &&
         same_attrs(a.attrs, b.attrs);
}

std::size_t hash_of(const Node& node) {
  std::size_t hash = std::hash<std::string>()(node.device);
  const auto mix = [&hash](std::size_t value) { hash = hash * 1'000'003 ^ value; };
  mix(std::hash<const OpDef*>()(node.op));
  for (const auto& input : node.inputs) {
    mix(static_cast<std::size_t>(input.node));
    mix(static_cast<std::size_t>(input.output));
  }
  for (auto control : node.controls) mix(static_cast<std::size_t>(control));
  return hash;
}

NodeId& at(std::vector<NodeId>& ids, NodeId id) { return ids[static_cast<std::size_t>(id)]; }

// `node` with its references in terms of the new graph.
Node renumbered(Node node, std::vector<NodeId>& new_id) {
  for (auto& input : node.inputs) input.node = at(new_id, input.node);
  for (auto& control : node.controls) control = at(new_id, control);
  std::ranges::sort(node.controls);
  const auto repeated = std::ranges::unique(node.controls);
  node.controls.erase(repeated.begin(), repeated.end());
  return node;
}

NodeId append(GraphDef& graph, Node node) {
  graph.nodes.push_back(std::move(node));
  return graph.size() - 1;
}

// A node with a subgraph is not: it may run for any time, and ends early only with its step.
bool is_foldable(const GraphDef& graph, const Node& node) {
  const auto is_const = [&graph](Edge edge) { return graph.node(edge.node).op == &const_op(); };
  return node.op->is_pure() && !has_subgraph(node.attrs) && !node.inputs.empty() &&
         node.controls.empty() && node.outputs.size() == 1 && std::ranges::all_of(node.inputs, is_const);
}

// True where the shape function says so; a result of unknown shape is measured when it is there.
bool is_too_large(const TensorType& type) {
  if (!type.shape.fully_known()) return false;
  const auto limit = static_cast<std::int64_t>(max_folded_bytes / size_of(type.dtype));
  return type.shape.elements() > limit;
}

// An empty tensor if the node cannot or should not be computed now.
Tensor fold(const GraphDef& graph, const Node& node, const Evaluate& evaluate) {
  if (is_too_large(node.outputs[0])) return {};
  std::vector<Tensor> inputs;
  for (const auto& edge : node.inputs) inputs.push_back(attr<Tensor>(graph.node(edge.node), "value"));
  try {
    auto outputs = evaluate(node, inputs);
    if (outputs.size() == 1 && outputs[0].size_bytes() <= max_folded_bytes) return std::move(outputs[0]);
  } catch (const Error&) {  // The step that runs the node reports it.
  }
  return {};
}

}  // namespace

std::vector<bool> needed_by(const GraphDef& graph, const std::vector<NodeId>& roots) {
  std::vector<bool> seen(graph.nodes.size());
  const auto mark = [&seen](NodeId id) { seen[static_cast<std::size_t>(id)] = true; };
  std::ranges::for_each(roots, mark);
  for (NodeId id = graph.size() - 1; id >= 0; --id) {
    if (!seen[static_cast<std::size_t>(id)]) continue;
    for (const auto& input : graph.node(id).inputs) mark(input.node);
    std::ranges::for_each(graph.node(id).controls, mark);
  }
  return seen;
}

Rewritten prune(const GraphDef& graph, const std::vector<NodeId>& roots) {
  const auto kept = needed_by(graph, roots);
  Rewritten result{{}, std::vector<NodeId>(graph.nodes.size(), -1)};
  for (NodeId id = 0; id < graph.size(); ++id)
    if (kept[static_cast<std::size_t>(id)])
      at(result.new_id, id) = append(result.graph, renumbered(graph.node(id), result.new_id));
  return result;
}

Rewritten common_subexpressions(const GraphDef& graph) {
  Rewritten result{{}, std::vector<NodeId>(graph.nodes.size(), -1)};
  std::unordered_multimap<std::size_t, NodeId> known;
  for (NodeId id = 0; id < graph.size(); ++id) {
    Node node = renumbered(graph.node(id), result.new_id);
    const auto hash = hash_of(node);
    const auto [first, last] = known.equal_range(hash);
    const auto same = std::find_if(first, last, [&](const auto& entry) {
      return same_computation(result.graph.node(entry.second), node);
    });
    if (node.op->is_pure() && same != last) {
      at(result.new_id, id) = same->second;
      continue;
    }
    if (node.op->is_pure()) known.emplace(hash, result.graph.size());
    at(result.new_id, id) = append(result.graph, std::move(node));
  }
  return result;
}

Rewritten fold_constants(const GraphDef& graph, const Evaluate& evaluate) {
  Rewritten result{graph, std::vector<NodeId>(graph.nodes.size())};
  std::iota(result.new_id.begin(), result.new_id.end(), 0);
  for (auto& node : result.graph.nodes) {
    if (!is_foldable(result.graph, node)) continue;
    Tensor value = fold(result.graph, node, evaluate);
    if (!value.valid()) continue;
    node.op = &const_op();
    node.inputs.clear();
    node.attrs = {{"value", std::move(value)}};
    infer_node(node, {});
  }
  return result;
}

void apply(StepGraph& step, Rewritten rewritten) {
  for (auto& root : step.roots) {
    const NodeId before = root;
    root = at(rewritten.new_id, before);
    ACTORFLOW_CHECK(root >= 0, "root", before, "was pruned");
  }
  step.graph = std::move(rewritten.graph);
}

GraphDef optimise(StepGraph step, const Evaluate& evaluate) {
  apply(step, fold_constants(step.graph, evaluate));
  apply(step, common_subexpressions(step.graph));
  return prune(step.graph, step.roots).graph;
}

}  // namespace actorflow
