// A hash of what nodes compute, by which tasks find out whether their models are the same.
#pragma once

#include <cstdint>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// A hash of the ops, attributes and edges that lead to `output`, the same in every process. Names,
// devices, control edges and the precision of products do not count. What leads to a leaf does not count
// either, only which one it is.
std::uint64_t graph_hash(const Output& output, const std::vector<Output>& leaves = {});

}  // namespace actorflow
