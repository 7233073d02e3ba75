// Cuts a placed graph at the borders of tasks.
#pragma once

#include <map>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// One graph per task that has nodes. An edge to another task becomes a Send and a Recv: one pair per
// tensor and destination, however many consumers there are. A control edge becomes the transfer of an
// empty constant that runs after its source, one per source and destination. Channels are numbered from
// 0. Send and Recv are on the first CPU of their tasks. REQUIRES: every node has its types and a full
// device name. Throws invalid_argument if one has no task.
std::map<TaskName, GraphDef> partition(const GraphDef& placed);

}  // namespace actorflow
