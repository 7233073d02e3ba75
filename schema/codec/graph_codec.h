// Between graphs and Cap'n Proto (graph.capnp). Internal to schema/: includes Cap'n Proto.
#pragma once

#include "dataflow/graph.h"
#include "schema/codec/tensor_codec.h"
#include "schema/graph.capnp.h"

namespace actorflow {

void write_graph(const GraphDef& graph, TensorWriter& tensors, wire::Graph::Builder to);
// Nothing unchecked comes in: types are inferred here. Throws invalid_argument with every mistake of
// the graph, one per line: unknown ops, references, attributes, types, devices, names.
GraphDef read_graph(wire::Graph::Reader from, TensorReader& tensors, const OpRegistry& ops);

}  // namespace actorflow
