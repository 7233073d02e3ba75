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
// The graph, checked and with inferred types. Throws invalid_argument with every mistake, one per line:
// unknown ops, references, attributes, types, devices, names.
GraphDef read_graph(wire::Graph::Reader from, TensorReader& tensors, const OpRegistry& ops);
// Nodes for extend_graph(), which checks that they fit the graph. Throws invalid_argument for unknown
// ops and attributes.
std::vector<Node> read_nodes(wire::Graph::Reader from, TensorReader& tensors, const OpRegistry& ops);

}  // namespace actorflow
