// Nodes that a Graph::Tail has collected behind an eager graph, such as those of a gradient.
#pragma once

#include <vector>

#include "kernels/eager/eager_context.h"
#include "kernels/eager/eager_values.h"

namespace actorflow {

// Computes what is wanted of them, and no node besides: a gradient function also adds the gradients of
// inputs that nobody asked for. A tensor is released at its last use, which may overwrite it.
class CollectedNodes {
 public:
  // Nodes whose tensors are in `before` are not computed. REQUIRES: all of them outlive this.
  CollectedNodes(EagerContext& context, const GraphDef& graph, const EagerValues& before)
      : context_(context), graph_(graph), before_(before), nodes_(graph.nodes.size()) {}

  // For one use. Throws what the kernels throw, and unimplemented for an op without one.
  std::vector<Tensor> compute(const std::vector<Edge>& wanted);

 private:
  struct Slot {
    Tensor tensor;
    int uses = 0;
  };
  using Slots = std::vector<Slot>;  // of a node's outputs; empty if the node is not needed

  void count_uses(const std::vector<Edge>& wanted);
  void count_use(Edge edge);
  void run(NodeId id);
  Tensor take(Edge edge);
  Slots& slots_of(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }

  EagerContext& context_;
  const GraphDef& graph_;
  const EagerValues& before_;
  std::vector<Slots> nodes_;
};

}  // namespace actorflow
