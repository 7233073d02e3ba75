#include "dataflow/transform/gather_variables.h"

#include <algorithm>
#include <optional>

#include "dataflow/graph/containers.h"
#include "dataflow/graph/state_ops.h"

namespace actorflow {
namespace {

const std::string* variable_of(const Node& node) {
  return node.op->dispatch == Dispatch::shard ? named_state(node) : nullptr;
}

bool gathers_rows(const Node& node, NodeId from) {
  if (!node.op->gathers_rows || node.inputs[0].node != from || node.inputs[1].node == from) return false;
  return attr<std::int64_t>(node, "axis") == 0;
}

class Gathers {
 public:
  explicit Gathers(StepGraph& step) : graph_(step.graph), roots_(step.roots) {}

  void replace() {
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (graph_.node(id).op == &read_variable_op())
        if (const auto gathers = all_gathers(id)) replace(id, *gathers);
  }

 private:
  // The gathers that take the variable's value; none if any other node takes it or is ordered after the
  // reading.
  std::optional<std::vector<NodeId>> all_gathers(NodeId read) const {
    if (std::ranges::find(roots_, read) != roots_.end()) return std::nullopt;
    std::vector<NodeId> gathers;
    for (NodeId id = read + 1; id < graph_.size(); ++id) {
      const Node& node = graph_.node(id);
      if (std::ranges::find(node.controls, read) != node.controls.end()) return std::nullopt;
      if (std::ranges::find(node.inputs, read, &Edge::node) == node.inputs.end()) continue;
      if (!gathers_rows(node, read) || node.device != graph_.node(read).device) return std::nullopt;
      gathers.push_back(id);
    }
    return gathers;
  }

  void replace(NodeId read, const std::vector<NodeId>& gathers) {
    const Node from = graph_.node(read);
    for (const NodeId id : gathers) {
      Node& node = graph_.node(id);
      node.op = &gather_variable_op();
      node.inputs.erase(node.inputs.begin());
      node.controls.insert(node.controls.end(), from.controls.begin(), from.controls.end());
      node.attrs = {{"variable", from.attrs.at("variable")},
                    {"dtype", from.attrs.at("dtype")},
                    {"shape", from.attrs.at("shape")}};
      infer_node(node, input_types(graph_, node));
      order_updates_after(id);
    }
  }

  void order_updates_after(NodeId gather) {
    const std::string& variable = *variable_of(graph_.node(gather));
    for (NodeId id = gather + 1; id < graph_.size(); ++id) {
      Node& node = graph_.node(id);
      const std::string* changed = variable_of(node);
      if (changed && *changed == variable && node.op != &read_variable_op() &&
          node.op != &gather_variable_op())
        node.controls.push_back(gather);
    }
  }

  GraphDef& graph_;
  const std::vector<NodeId>& roots_;
};

}  // namespace

void gather_variables(StepGraph& step) { Gathers(step).replace(); }

}  // namespace actorflow
