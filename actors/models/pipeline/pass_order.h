// The passes of a stage of a pipeline, one after the other.
#pragma once

#include <utility>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// Lets the nodes from `first` on run after `previous`, unless that is empty: adds a control edge to each
// of them that takes a tensor of a node before `first`. Constants wait for nothing.
void run_after(Graph& graph, Output previous, NodeId first);

// Adds what `body` adds as the next pass after `previous`, which may be empty. The pass ends when the
// outputs do that `body` returns; returns the node that says so.
template <class Body>
Output add_after(Graph& graph, Output previous, Body&& body) {
  const NodeId first = graph.def().size();
  const std::vector<Output> ends = std::forward<Body>(body)();
  run_after(graph, previous, first);
  return graph.group(ends, "done");
}

}  // namespace actorflow
