// Regions: one node in the place of many on one device between which nothing happens elsewhere, so that
// a device can be given all of them at once.
#pragma once

#include <functional>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// A part of a graph as a graph of its own.
struct Region {
  GraphDef body;              // its first nodes are Args, one for each input, in order
  std::vector<Edge> outputs;  // of the body
};

// (inputs) -> outputs of a region, by the attribute `region`, its position in GraphOfRegions. The node
// is named as the first that it stands for. It never travels: who runs a graph forms its regions.
const OpDef& region_op();

struct GraphOfRegions {
  GraphDef graph;
  std::vector<Region> regions;
};

// May the node be computed in a region? Asked only for kernels without state.
using MayJoin = std::function<bool(const Node&)>;

// Regions of two nodes or more, as large as they can be: nodes that hang together, on one device, without a
// way from one to the other through nodes outside. Constants join a region that alone uses them.
// A region starts when all of its inputs are there and gives its outputs together.
GraphOfRegions form_regions(const GraphDef& graph, const MayJoin& may_join);

}  // namespace actorflow
