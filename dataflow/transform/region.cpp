#include "dataflow/transform/region.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "dataflow/graph/core_ops.h"
#include "dataflow/transform/node_index.h"

namespace actorflow {
namespace {

// The position of a value, which is appended if it is not there.
template <class T>
std::size_t position_in(std::vector<T>& list, const T& value) {
  const auto position = static_cast<std::size_t>(std::ranges::find(list, value) - list.begin());
  if (position == list.size()) list.push_back(value);
  return position;
}

// Calls body(predecessor) for every node that this one waits for.
void for_each_predecessor(const Node& node, const auto& body) {
  for (const Edge input : node.inputs) body(input.node);
  for (const NodeId before : node.controls) body(before);
}

// Says which nodes become one. A node's depth is the number of times that a way to it has left a region:
// it grows along every way out of a region, so that nodes of one depth have no way between them through
// others, and units in the order of their depth are in a topological order.
class Grouping {
 public:
  Grouping(const GraphDef& graph, const MayJoin& may_join)
      : graph_(graph),
        joins_(graph.nodes.size()),
        depth_(graph.nodes.size()),
        unit_(graph.nodes.size()) {
    std::iota(unit_.begin(), unit_.end(), 0);
    for (NodeId id = 0; id < graph.size(); ++id)
      joins_[index(id)] = may_compute(graph.node(id), may_join);
    for (NodeId id = 0; id < graph.size(); ++id) find_depth(id);
    for (NodeId id = 0; id < graph.size(); ++id)
      for_each_predecessor(graph.node(id), [&](NodeId before) {
        if (belong_together(before, id)) unite(before, id);
      });
    add_constants(may_join);
  }

  // The nodes of each unit, in their order; the units in a topological one. Those of several nodes are
  // regions.
  std::vector<std::vector<NodeId>> units() {
    std::map<std::tuple<int, bool, NodeId>, std::vector<NodeId>> units;
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const NodeId first = unit_of(id);
      units[{depth_[index(first)], joins_[index(first)], first}].push_back(id);
    }
    std::vector<std::vector<NodeId>> result;
    for (auto& entry : units) result.push_back(std::move(entry.second));
    return result;
  }

 private:
  static bool may_compute(const Node& node, const MayJoin& may_join) {
    return node.op->is_pure() && node.op != &no_op() && node.op != &const_op() && may_join(node);
  }

  bool belong_together(NodeId a, NodeId b) const {
    return joins_[index(a)] && joins_[index(b)] && depth_[index(a)] == depth_[index(b)] &&
           graph_.node(a).device == graph_.node(b).device;
  }

  void find_depth(NodeId id) {
    for_each_predecessor(graph_.node(id), [&](NodeId before) {
      const bool stays = joins_[index(id)] && graph_.node(before).device == graph_.node(id).device;
      const int leaves = joins_[index(before)] && !stays ? 1 : 0;
      depth_[index(id)] = std::max(depth_[index(id)], depth_[index(before)] + leaves);
    });
  }

  // A unit goes by the first node that it had; constants that join it may be earlier ones.
  NodeId unit_of(NodeId id) {
    while (unit_[index(id)] != id) id = unit_[index(id)] = unit_[index(unit_[index(id)])];
    return id;
  }
  void unite(NodeId a, NodeId b) {
    const auto [first, second] = std::minmax({unit_of(a), unit_of(b)});
    unit_[index(second)] = first;
  }

  void add_constants(const MayJoin& may_join) {
    std::vector<int> sizes(unit_.size());
    for (NodeId id = 0; id < graph_.size(); ++id) ++sizes[index(unit_of(id))];
    std::vector<NodeId> user(unit_.size(), -1);  // the one unit that takes a node, if there is but one
    const auto note = [&](NodeId from, NodeId by) {
      NodeId& known = user[index(from)];
      known = known == -1 || known == by ? by : several;
    };
    for (NodeId id = 0; id < graph_.size(); ++id) {
      for (const Edge input : graph_.node(id).inputs) note(input.node, unit_of(id));
      for (const NodeId before : graph_.node(id).controls) note(before, several);
    }
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const Node& node = graph_.node(id);
      const NodeId by = user[index(id)];
      if (node.op == &const_op() && node.controls.empty() && by >= 0 && sizes[index(by)] > 1 &&
          node.device == graph_.node(by).device && may_join(node))
        unit_[index(id)] = by;
    }
  }

  static constexpr NodeId several = -2;

  const GraphDef& graph_;
  std::vector<bool> joins_;
  std::vector<int> depth_;
  std::vector<NodeId> unit_;
};

// Moves nodes into a new graph, unit after unit.
class Rewriter {
 public:
  explicit Rewriter(const GraphDef& graph) : graph_(graph), unit_of_(graph.nodes.size()) {}

  GraphOfRegions run(const std::vector<std::vector<NodeId>>& units) {
    for (std::size_t unit = 0; unit < units.size(); ++unit)
      for (const NodeId id : units[unit]) unit_of_[index(id)] = unit;
    find_outputs(units.size());
    for (std::size_t unit = 0; unit < units.size(); ++unit)
      result_.graph.nodes.push_back(units[unit].size() == 1 ? moved(units[unit].front(), unit)
                                                            : region(units[unit], unit));
    return std::move(result_);
  }

 private:
  // Finds the outputs of each unit of several nodes that other units take.
  void find_outputs(std::size_t units) {
    outputs_.resize(units);
    for (NodeId id = 0; id < graph_.size(); ++id)
      for (const Edge input : graph_.node(id).inputs)
        if (unit_of_[index(input.node)] != unit_of_[index(id)])
          position_in(outputs_[unit_of_[index(input.node)]], input);
  }

  // Where an output of the old graph is in the new one.
  Edge moved(Edge edge) const {
    const std::size_t unit = unit_of_[index(edge.node)];
    const auto id = static_cast<NodeId>(unit);
    if (result_.graph.node(id).op != &region_op()) return {id, edge.output};
    const auto& outputs = outputs_[unit];
    return {id, static_cast<int>(std::ranges::find(outputs, edge) - outputs.begin())};
  }

  Node moved(NodeId id, std::size_t unit) const {
    Node node = graph_.node(id);
    for (Edge& input : node.inputs) input = moved(input);
    node.controls = controls({id}, unit);
    return node;
  }

  // The nodes of other units after which the unit's nodes must run.
  std::vector<NodeId> controls(const std::vector<NodeId>& nodes, std::size_t unit) const {
    std::vector<NodeId> result;
    for (const NodeId id : nodes)
      for (const NodeId before : graph_.node(id).controls)
        if (unit_of_[index(before)] != unit)
          position_in(result, static_cast<NodeId>(unit_of_[index(before)]));
    return result;
  }

  Node region(const std::vector<NodeId>& nodes, std::size_t unit) {
    const auto is_inside = [&](Edge edge) { return unit_of_[index(edge.node)] == unit; };
    std::vector<Edge> inputs;
    for (const NodeId id : nodes)
      for (const Edge input : graph_.node(id).inputs)
        if (!is_inside(input)) position_in(inputs, input);
    Node node;
    const Node& first = first_computed(nodes);
    node.name = first.name;
    node.device = first.device;
    node.op = &region_op();
    node.attrs = {{"region", static_cast<std::int64_t>(result_.regions.size())}};
    for (const Edge input : inputs) node.inputs.push_back(moved(input));
    node.controls = controls(nodes, unit);
    for (const Edge output : outputs_[unit]) node.outputs.push_back(graph_.type(output));
    result_.regions.push_back(body(nodes, inputs, outputs_[unit]));
    return node;
  }

  const Node& first_computed(const std::vector<NodeId>& nodes) const {
    return graph_.node(
        *std::ranges::find_if(nodes, [this](NodeId id) { return graph_.node(id).op != &const_op(); }));
  }

  Region body(const std::vector<NodeId>& nodes, const std::vector<Edge>& inputs,
              const std::vector<Edge>& outputs) const {
    Region region;
    std::map<Edge, Edge> place;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      place[inputs[i]] = {region.body.size(), 0};
      region.body.nodes.push_back(argument(i, graph_.type(inputs[i])));
    }
    for (const NodeId id : nodes) {
      Node node = graph_.node(id);
      node.controls.clear();  // the order of the nodes holds those inside
      for (Edge& input : node.inputs) input = place.at(input);
      for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i)
        place[{id, i}] = {region.body.size(), i};
      region.body.nodes.push_back(std::move(node));
    }
    for (const Edge output : outputs) region.outputs.push_back(place.at(output));
    return region;
  }

  static Node argument(std::size_t i, const TensorType& type) {
    Node node;
    node.name = "input " + std::to_string(i);
    node.op = &arg_op();
    node.attrs = {{"index", static_cast<std::int64_t>(i)}, {"dtype", type.dtype}, {"shape", type.shape}};
    node.outputs = {type};
    return node;
  }

  const GraphDef& graph_;
  std::vector<std::size_t> unit_of_;  // also the new node's id
  std::vector<std::vector<Edge>> outputs_;
  GraphOfRegions result_;
};

}  // namespace

const OpDef& region_op() {
  static const OpDef op{
      .name = "Region", .max_inputs = OpDef::any_number, .attrs = {{"region", std::int64_t{0}, true}}};
  return op;
}

GraphOfRegions form_regions(const GraphDef& graph, const MayJoin& may_join) {
  return Rewriter(graph).run(Grouping(graph, may_join).units());
}

}  // namespace actorflow
