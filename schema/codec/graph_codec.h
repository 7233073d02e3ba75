// Between graphs and Cap'n Proto (graph.capnp). Internal to schema/: includes Cap'n Proto.
#pragma once

#include <vector>

#include "dataflow/graph/graph.h"
#include "schema/codec/tensor_codec.h"
#include "schema/graph.capnp.h"

namespace actorflow {

void write_nodes(const std::vector<Node>& nodes, TensorWriter& tensors, wire::Graph::Builder to);
inline void write_graph(const GraphDef& graph, TensorWriter& tensors, wire::Graph::Builder to) {
  write_nodes(graph.nodes, tensors, to);
}
// Nothing unchecked comes in: types are inferred here. Throws invalid_argument with every mistake of
// the graph, one per line: unknown ops, references, attributes, types, devices, names.
GraphDef read_graph(wire::Graph::Reader from, TensorReader& tensors, const OpRegistry& ops);
// Nodes for extend_graph(), which checks how they fit the graph that they belong to. Throws
// invalid_argument for ops and attributes that are not known here.
std::vector<Node> read_nodes(wire::Graph::Reader from, TensorReader& tensors, const OpRegistry& ops);

}  // namespace actorflow
