// Takes away waits for other tasks that nobody could notice.
#pragma once

#include "dataflow/graph/graph.h"

namespace actorflow {

// Removes control edges from other tasks to nodes that are seen at the end of the step alone: pure ones,
// and results of the step, whose consumers are such nodes, too. A step ends when the parts of all its
// tasks have, so whoever sees them has waited for those other nodes; a transfer for each such edge would
// tell a task what the master learns anyway. REQUIRES: every node has a device that names a task.
GraphDef without_late_waits(GraphDef placed);

}  // namespace actorflow
