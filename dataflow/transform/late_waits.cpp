#include "dataflow/transform/late_waits.h"

#include <algorithm>
#include <vector>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/core_ops.h"

namespace actorflow {
namespace {

// By node: whether what it does is seen at the end of the step alone.
std::vector<bool> seen_at_the_end(const GraphDef& graph) {
  std::vector<bool> late(graph.nodes.size(), true);
  for (NodeId id = graph.size() - 1; id >= 0; --id) {
    const Node& node = graph.node(id);
    const auto at = [&late](NodeId other) { return late.begin() + other; };
    if (!node.op->is_pure() && node.op != &retval_op()) *at(id) = false;
    if (*at(id)) continue;
    for (const Edge& input : node.inputs) *at(input.node) = false;
    for (const NodeId control : node.controls) *at(control) = false;
  }
  return late;
}

}  // namespace

GraphDef without_late_waits(GraphDef placed) {
  const auto late = seen_at_the_end(placed);
  std::vector<TaskName> tasks;  // of each node
  for (const Node& node : placed.nodes) tasks.push_back(TaskName::parse(node.device));
  for (NodeId id = 0; id < placed.size(); ++id) {
    if (!late[static_cast<std::size_t>(id)]) continue;
    const TaskName& own = tasks[static_cast<std::size_t>(id)];
    std::erase_if(placed.nodes[static_cast<std::size_t>(id)].controls,
                  [&](NodeId control) { return tasks[static_cast<std::size_t>(control)] != own; });
  }
  return placed;
}

}  // namespace actorflow
