// Fusion: one node in the place of several, where an op exists that computes them at once.
//
// Which nodes an op can stand for is said by rules, which come with the kernels; what may be fused
// without changing what a graph means is decided here, so that a rule cannot break a graph.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/transform/optimise.h"

namespace actorflow {

// A graph and who uses what in it. Refers to the graph, which must stay as it is.
class FusionContext {
 public:
  explicit FusionContext(const GraphDef& graph);

  const GraphDef& graph() const { return graph_; }
  const Node& node(NodeId id) const { return graph_.node(id); }
  // The node that makes this input, if it is of that op.
  std::optional<NodeId> producer(NodeId node, std::size_t input, std::string_view op) const;
  // The first node of that op that takes this output.
  std::optional<NodeId> consumer(Edge edge, std::string_view op) const;
  // The nodes that take an output of this one or run after it; one that does so twice is there twice.
  std::span<const NodeId> successors(NodeId id) const {
    return successors_[static_cast<std::size_t>(id)];
  }

 private:
  const GraphDef& graph_;
  std::vector<std::vector<NodeId>> successors_;
};

// What a rule proposes. Edges and nodes are those of the graph as it was.
struct Fused {
  std::vector<NodeId> replaced;  // the first one gives its name
  const OpDef* op = nullptr;
  Attrs attrs = {};
  std::vector<Edge> inputs;   // made by others than the replaced nodes
  std::vector<Edge> outputs;  // the outputs of the replaced nodes that the op computes, in its order;
                              // Edge() for one that they do not have
};

// What may be fused that ends with the node `last`; nothing if the rule does not apply there.
using FusionRule = std::optional<Fused> (*)(const FusionContext&, NodeId last);

// Can nodes of the op run on this device?
using CanRun = std::function<bool(const OpDef& op, const std::string& device)>;

// Applies the rules from the last node to the first; where several apply, the first of them. A proposal
// is dropped unless its nodes are kernels without state on one device, which its op can run on, all of
// their outputs that somebody else takes are outputs of the op, and nobody else stands between them.
// `new_id` of a replaced node is the node that replaces it.
Rewritten fuse(const GraphDef& graph, std::span<const FusionRule> rules, const CanRun& can_run);

}  // namespace actorflow
