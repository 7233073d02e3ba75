#include "actors/models/network/graph_hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <variant>

#include "dataflow/graph/subgraph.h"
#include "dataflow/transform/optimise.h"
#include "schema/checksum.h"

namespace actorflow {
namespace {

using Hashes = std::vector<std::uint64_t>;  // of the nodes of a graph

std::uint64_t hash_of(const Node& node, const Hashes& earlier);

std::uint64_t at(const Hashes& hashes, NodeId id) { return hashes[static_cast<std::size_t>(id)]; }

std::uint64_t hash_of(const std::string& text) {
  return checksum(std::as_bytes(std::span(text.data(), text.size())));
}

std::string edges_text(const std::vector<Edge>& edges, const Hashes& nodes) {
  std::string text;
  for (const Edge& edge : edges) text += fmt::format(" {:x}:{}", at(nodes, edge.node), edge.output);
  return text;
}

// The value of an attribute as text.
struct AttrText {
  std::string operator()(bool value) const { return fmt::format("{}", value); }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(DType value) const { return std::string(to_string(value)); }
  std::string operator()(const Shape& value) const { return value.to_string(); }
  std::string operator()(const std::vector<std::int64_t>& value) const {
    return fmt::format("{}", fmt::join(value, ","));
  }
  std::string operator()(const std::vector<double>& value) const {
    return fmt::format("{}", fmt::join(value, ","));
  }
  std::string operator()(const Tensor& value) const {
    if (value.dtype() == DType::string)
      return fmt::format("{} {}", value.describe(), fmt::join(value.values<std::string>(), ","));
    const std::span bytes(static_cast<const std::byte*>(value.data()), value.size_bytes());
    return fmt::format("{} {:x}", value.describe(), checksum(bytes));
  }
  std::string operator()(const SubgraphRef& value) const {
    if (!value) return {};
    Hashes hashes;
    for (const Node& node : value->body.nodes) hashes.push_back(hash_of(node, hashes));
    return edges_text(value->outputs, hashes);
  }
};

std::uint64_t hash_of(const Node& node, const Hashes& earlier) {
  std::string text(node.op->name);
  for (const auto& [name, value] : node.attrs)
    if (name != "precision") text += fmt::format(" {}={}", name, std::visit(AttrText{}, value));
  return hash_of(text + edges_text(node.inputs, earlier));
}

}  // namespace

std::uint64_t graph_hash(const Output& output, const std::vector<Output>& leaves) {
  const GraphDef& graph = output.graph->def();
  const NodeId root = output.edge.node;
  const std::vector<bool> needed = needed_by(graph, {root});
  Hashes hashes(graph.nodes.size());
  for (NodeId id = 0; id <= root; ++id) {
    const auto place = static_cast<std::size_t>(id);
    if (!needed[place]) continue;
    const auto leaf =
        std::ranges::find(leaves, id, [](const Output& one) { return one.edge.node; }) - leaves.begin();
    hashes[place] = leaf < std::ssize(leaves) ? hash_of(fmt::format("leaf {}", leaf))
                                              : hash_of(graph.node(id), hashes);
  }
  return hash_of(edges_text({output.edge}, hashes));
}

}  // namespace actorflow
