// Graph rewrites that keep every result: pure functions from graph to graph.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/transform/step_graph.h"

namespace actorflow {

struct Rewritten {
  GraphDef graph;
  std::vector<NodeId> new_id;  // of each old node: the one that has its results now, -1 if none has
};

// Computes a node from its inputs. May throw Error: the node then stays as it is, and fails when it
// runs.
using Evaluate = std::function<std::vector<Tensor>(const Node&, const std::vector<Tensor>& inputs)>;

// For each node, whether it is a root or a root depends on it.
std::vector<bool> needed_by(const GraphDef& graph, const std::vector<NodeId>& roots);

// Keeps the roots and what they depend on.
Rewritten prune(const GraphDef& graph, const std::vector<NodeId>& roots);

// Merges nodes that must give the same results: kernels without state of one op, device, attributes,
// inputs and control inputs. Tensors in attributes are compared if they have at most 1 KiB.
Rewritten common_subexpressions(const GraphDef& graph);

inline constexpr std::size_t max_folded_bytes = 10U << 20U;

// Replaces kernels without state, control inputs or subgraphs whose inputs are all constant by the
// constant that they compute, under the same name and on the same device, where it has one output of at
// most max_folded_bytes. Nodes that are then unused stay; prune() removes them.
Rewritten fold_constants(const GraphDef& graph, const Evaluate& evaluate);

// Replaces the step's graph by the rewritten one. REQUIRES: it still has all roots.
void apply(StepGraph& step, Rewritten rewritten);

// The step's graph after all of the above.
GraphDef optimise(StepGraph step, const Evaluate& evaluate);

}  // namespace actorflow
