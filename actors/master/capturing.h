// Which tasks of a step may launch parts of it as CUDA graphs. Pure functions.
#pragma once

#include <set>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// The tasks of a placed graph that have nodes on GPUs and may join them into regions
// (dataflow/transform/region.h), which a GPU computes as CUDA graphs.
//
// A region waits for all its inputs and gives all its outputs together. A task forms its regions by what
// it sees of the step, its own part, so none may be formed where
// - what follows from its GPU's nodes comes back to them by way of another task, a queue, an accumulator
//   or a barrier, as from stage to stage of a pipeline: a region with both ends of that way would wait
//   for itself;
// - GPUs of several tasks give each other something, though nothing comes back, as when each computes a
//   half and both need the whole: their regions would wait for each other;
// - the task takes part in operations of several ranks: their order between the ranks is not in the
//   graph either, and the first gradients are reduced while the GPU computes the others.
std::set<TaskName> tasks_that_may_capture(const GraphDef& placed);

}  // namespace actorflow
