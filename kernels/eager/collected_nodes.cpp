#include "kernels/eager/collected_nodes.h"

#include <utility>

#include "dataflow/graph/core_ops.h"
#include "kernels/eager/run_node.h"

namespace actorflow {

std::vector<Tensor> CollectedNodes::compute(const std::vector<Edge>& wanted) {
  count_uses(wanted);
  for (NodeId id = 0; id < graph_.size(); ++id)
    if (!slots_of(id).empty()) run(id);
  std::vector<Tensor> results;
  for (const Edge edge : wanted) results.push_back(take(edge));
  return results;
}

// From the last node to the first, so that a node is known to be needed before its inputs are looked at.
void CollectedNodes::count_uses(const std::vector<Edge>& wanted) {
  for (const Edge edge : wanted) count_use(edge);
  for (NodeId id = graph_.size(); id-- > 0;)
    if (!slots_of(id).empty())
      for (const Edge input : graph_.node(id).inputs) count_use(input);
}

void CollectedNodes::count_use(Edge edge) {
  if (before_.find(edge)) return;
  Slots& slots = slots_of(edge.node);
  slots.resize(graph_.node(edge.node).outputs.size());
  ++slots[static_cast<std::size_t>(edge.output)].uses;
}

void CollectedNodes::run(NodeId id) {
  const Node& node = graph_.node(id);
  Slots& slots = slots_of(id);
  if (node.op == &const_op()) {
    slots[0].tensor = constant_of(context_, node);
    return;
  }
  expect_kernel(node);
  std::vector<Tensor> inputs, outputs(slots.size());
  for (const Edge input : node.inputs) inputs.push_back(take(input));
  run_node(context_, node, inputs, outputs);
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i].uses > 0) slots[i].tensor = std::move(outputs[i]);
}

Tensor CollectedNodes::take(Edge edge) {
  if (const Tensor* known = before_.find(edge)) return *known;
  Slot& slot = slots_of(edge.node)[static_cast<std::size_t>(edge.output)];
  return --slot.uses == 0 ? std::move(slot.tensor) : slot.tensor;
}

}  // namespace actorflow
