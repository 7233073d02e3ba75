#include "dataflow/transform/fuse.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "dataflow/transform/node_index.h"

namespace actorflow {
namespace {

bool contains(const auto& range, const auto& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

// Unites nodes into units, each of them computed by one node of the new graph.
class Fuser {
 public:
  Fuser(const GraphDef& graph, const CanRun& can_run)
      : context_(graph), can_run_(can_run), unit_of_(graph.nodes.size()) {
    for (NodeId id = 0; id < graph.size(); ++id) {
      unit_of_[index(id)] = static_cast<int>(units_.size());
      units_.push_back({{id}, {}});
    }
  }

  const FusionContext& context() const { return context_; }

  bool accept(Fused fused) {
    if (!all_alike(fused) || !covers_what_is_used(fused) || is_entangled(fused)) return false;
    const int unit = unit_of_[index(fused.replaced.front())];
    for (NodeId id : fused.replaced) {
      units_[static_cast<std::size_t>(unit_of_[index(id)])].nodes.clear();
      unit_of_[index(id)] = unit;
    }
    units_[static_cast<std::size_t>(unit)] = {fused.replaced, std::move(fused)};
    return true;
  }

  // The units in a topological order, as near as possible to the order of their nodes.
  Rewritten rewrite() {
    Rewritten result{{}, std::vector<NodeId>(graph().nodes.size(), -1)};
    std::vector<int> waits_for(units_.size());
    for (std::size_t unit = 0; unit < units_.size(); ++unit)
      for_each_successor(static_cast<int>(unit),
                         [&](int next) { ++waits_for[static_cast<std::size_t>(next)]; });
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (std::size_t unit = 0; unit < units_.size(); ++unit)
      if (waits_for[unit] == 0 && !units_[unit].nodes.empty()) ready.push(static_cast<int>(unit));
    while (!ready.empty()) {
      const int unit = ready.top();
      ready.pop();
      append(units_[static_cast<std::size_t>(unit)], result);
      for_each_successor(unit, [&](int next) {
        if (--waits_for[static_cast<std::size_t>(next)] == 0) ready.push(next);
      });
    }
    return result;
  }

 private:
  struct Unit {
    std::vector<NodeId> nodes;   // none: another unit has them
    std::optional<Fused> fused;  // none: the one node as it is
  };

  const GraphDef& graph() const { return context_.graph(); }
  int unit_of(NodeId id) const { return unit_of_[index(id)]; }

  // Calls body(unit) for every edge that leads to another unit.
  template <class Body>
  void for_each_successor(int unit, const Body& body) const {
    for (NodeId id : units_[static_cast<std::size_t>(unit)].nodes)
      for (NodeId next : context_.successors(id))
        if (unit_of(next) != unit) body(unit_of(next));
  }

  bool all_alike(const Fused& fused) const {
    const std::string& device = context_.node(fused.replaced.front()).device;
    return can_run_(*fused.op, device) && std::ranges::all_of(fused.replaced, [&](NodeId id) {
             const Node& node = context_.node(id);
             return node.op->is_pure() && node.device == device &&
                    !units_[static_cast<std::size_t>(unit_of(id))].fused;
           });
  }

  bool covers_what_is_used(const Fused& fused) const {
    return std::ranges::all_of(fused.replaced, [&](NodeId id) {
      return std::ranges::all_of(context_.successors(id), [&](NodeId next) {
        if (contains(fused.replaced, next)) return true;
        return std::ranges::all_of(context_.node(next).inputs, [&](Edge input) {
          return input.node != id || contains(fused.outputs, input);
        });
      });
    });
  }

  // Does a way lead out of the replaced nodes and back? As one node it would be a circle.
  bool is_entangled(const Fused& fused) const {
    std::vector<bool> seen(units_.size());
    std::vector<int> open;
    const auto visit = [&](int unit) {
      if (seen[static_cast<std::size_t>(unit)]) return;
      seen[static_cast<std::size_t>(unit)] = true;
      open.push_back(unit);
    };
    for (NodeId id : fused.replaced)
      for (NodeId next : context_.successors(id))
        if (!contains(fused.replaced, next)) visit(unit_of(next));
    while (!open.empty()) {
      const int unit = open.back();
      open.pop_back();
      for_each_successor(unit, visit);
    }
    return std::ranges::any_of(fused.replaced,
                               [&](NodeId id) { return seen[static_cast<std::size_t>(unit_of(id))]; });
  }

  void append(const Unit& unit, Rewritten& result) {
    Node node = context_.node(unit.nodes.front());
    if (unit.fused) {
      node.op = unit.fused->op;
      node.attrs = unit.fused->attrs;
      node.inputs = unit.fused->inputs;
      node.controls.clear();
      for (NodeId id : unit.nodes)
        std::ranges::copy_if(context_.node(id).controls, std::back_inserter(node.controls),
                             [&](NodeId before) { return !contains(unit.nodes, before); });
    }
    for (Edge& input : node.inputs) input = moved(input, result);
    for (NodeId& control : node.controls) control = result.new_id[index(control)];
    std::ranges::sort(node.controls);
    node.controls.erase(std::unique(node.controls.begin(), node.controls.end()), node.controls.end());
    infer_node(node, input_types(result.graph, node));
    for (NodeId id : unit.nodes) result.new_id[index(id)] = result.graph.size();
    result.graph.nodes.push_back(std::move(node));
  }

  // The new place of an output of the old graph.
  Edge moved(Edge edge, const Rewritten& result) const {
    const auto& fused = units_[static_cast<std::size_t>(unit_of(edge.node))].fused;
    if (fused)
      return {result.new_id[index(edge.node)],
              static_cast<int>(std::ranges::find(fused->outputs, edge) - fused->outputs.begin())};
    return {result.new_id[index(edge.node)], edge.output};
  }

  FusionContext context_;
  const CanRun& can_run_;
  std::vector<int> unit_of_;
  std::vector<Unit> units_;
};

}  // namespace

FusionContext::FusionContext(const GraphDef& graph) : graph_(graph), successors_(graph.nodes.size()) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    for (Edge input : graph.node(id).inputs) successors_[index(input.node)].push_back(id);
    for (NodeId before : graph.node(id).controls) successors_[index(before)].push_back(id);
  }
}

std::optional<NodeId> FusionContext::producer(NodeId id, std::size_t input, std::string_view op) const {
  const NodeId found = node(id).inputs.at(input).node;
  return node(found).op->name == op ? std::optional(found) : std::nullopt;
}

std::optional<NodeId> FusionContext::consumer(Edge edge, std::string_view op) const {
  for (NodeId next : successors(edge.node))
    if (node(next).op->name == op && contains(node(next).inputs, edge)) return next;
  return std::nullopt;
}

Rewritten fuse(const GraphDef& graph, std::span<const FusionRule> rules, const CanRun& can_run) {
  Fuser fuser(graph, can_run);
  for (NodeId last = graph.size() - 1; last >= 0; --last)
    for (const FusionRule rule : rules)
      if (auto fused = rule(fuser.context(), last); fused && fuser.accept(std::move(*fused))) break;
  return fuser.rewrite();
}

}  // namespace actorflow
