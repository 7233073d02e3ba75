#include "actors/models/pipeline/pass_order.h"

#include <algorithm>

#include "dataflow/graph/core_ops.h"

namespace actorflow {

void run_after(Graph& graph, Output previous, NodeId first) {
  if (!previous) return;
  const NodeId end = graph.def().size();
  std::vector<bool> waits(static_cast<std::size_t>(end - first));
  const auto waits_already = [&](NodeId id) {
    return id >= first && waits[static_cast<std::size_t>(id - first)];
  };
  const auto is_outside = [&](Edge edge) {
    return edge.node < first && graph.def().node(edge.node).op != &const_op();
  };
  for (NodeId id = first; id < end; ++id) {
    const Node& node = graph.def().node(id);
    const bool inside = std::ranges::any_of(node.inputs, waits_already, &Edge::node) ||
                        std::ranges::any_of(node.controls, waits_already);
    const bool begins = !inside && std::ranges::any_of(node.inputs, is_outside);
    waits[static_cast<std::size_t>(id - first)] = inside || begins;
    if (begins) graph.add_control(previous, {&graph, {id, 0}});
  }
}

}  // namespace actorflow
