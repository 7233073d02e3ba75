// Nodes as positions in a vector that has an element for each.
#pragma once

#include <cstddef>

#include "dataflow/graph/graph.h"

namespace actorflow {

inline std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }

}  // namespace actorflow
