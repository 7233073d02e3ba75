// Regions: one node that stands for many nodes of one device, between which nothing happens elsewhere,
// so that the device can be given all of them at once.
#pragma once

#include <functional>
#include <vector>

#include "dataflow/graph/subgraph.h"

namespace actorflow {

using Region = Subgraph;

// (inputs) -> outputs of a region, by the attribute `region`, its position in GraphOfRegions. The node
// has the name of the first that it stands for. It is never sent: the task that runs a graph forms its
// regions.
const OpDef& region_op();

struct GraphOfRegions {
  GraphDef graph;
  std::vector<Region> regions;
};

// Whether the node may be computed in a region. Asked only for kernels without state.
using MayJoin = std::function<bool(const Node&)>;

// Forms the largest regions of two or more nodes: connected nodes of one device, without a path from one
// to another through nodes outside. A constant joins a region if no other node uses it. A region starts
// when all its inputs are there and gives its outputs together.
GraphOfRegions form_regions(const GraphDef& graph, const MayJoin& may_join);

}  // namespace actorflow
