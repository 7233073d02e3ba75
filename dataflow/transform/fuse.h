// Fusion: replaces several nodes by one whose op computes them at once.
//
// Rules, which come with the kernels, say which nodes an op can replace. This file decides what may be
// fused without changing the meaning of a graph, so a rule cannot break one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/transform/optimise.h"

namespace actorflow {

// A graph with the consumers of each node. Refers to the graph, which must not change meanwhile.
class FusionContext {
 public:
  explicit FusionContext(const GraphDef& graph);

  const GraphDef& graph() const { return graph_; }
  const Node& node(NodeId id) const { return graph_.node(id); }
  // The node that makes this input, if it has that op.
  std::optional<NodeId> producer(NodeId node, std::size_t input, std::string_view op) const;
  // The first node of that op that takes this output.
  std::optional<NodeId> consumer(Edge edge, std::string_view op) const;
  // The nodes that take an output of this one or run after it, once for each such edge.
  std::span<const NodeId> successors(NodeId id) const {
    return successors_[static_cast<std::size_t>(id)];
  }

 private:
  const GraphDef& graph_;
  std::vector<std::vector<NodeId>> successors_;
};

// The proposal of a rule. Edges and nodes are those of the original graph.
struct Fused {
  std::vector<NodeId> replaced;  // the first one gives its name
  const OpDef* op = nullptr;
  Attrs attrs = {};
  std::vector<Edge> inputs;   // made by others than the replaced nodes
  std::vector<Edge> outputs;  // the outputs of the replaced nodes that the op computes, in its order;
                              // Edge() for one that they do not have
};

// Proposes a fusion that ends with the node `last`; none if the rule does not apply there.
using FusionRule = std::optional<Fused> (*)(const FusionContext&, NodeId last);

// Whether nodes of the op can run on this device.
using CanRun = std::function<bool(const OpDef& op, const std::string& device)>;

// Applies the rules from the last node to the first; where several apply, the first of them. A proposal
// is dropped unless its nodes are kernels without state, on one device that can run its op; every output
// of theirs that other nodes take is an output of the op; and no other node lies on a path between them.
// `new_id` of a replaced node is the node that replaces it.
Rewritten fuse(const GraphDef& graph, std::span<const FusionRule> rules, const CanRun& can_run);

}  // namespace actorflow
