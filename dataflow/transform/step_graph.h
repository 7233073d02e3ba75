// The part of a graph that one kind of step runs.
#pragma once

#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// A graph whose feeds are Arg nodes and whose fetches are Retval nodes, their attribute `index` being
// the position in the lists that make_step() was given.
struct StepGraph {
  GraphDef graph;
  std::vector<NodeId> roots;  // the Retvals, in order, then the targets: all other nodes serve them
};

// Cuts out what `fetches` and `targets` need when `feeds` are given. A fed edge is replaced by an Arg of
// its type on the device of its node, which then need not run; nodes that ran after that node run after
// the Arg. A fetched edge gets a Retval on the device of its node. Throws invalid_argument for an edge
// or node that is not in the graph, an edge that is fed twice, and, naming all of them, for Placeholders
// that are needed and not fed.
StepGraph make_step(const GraphDef& graph, const std::vector<Edge>& feeds,
                    const std::vector<Edge>& fetches, const std::vector<NodeId>& targets);

}  // namespace actorflow
