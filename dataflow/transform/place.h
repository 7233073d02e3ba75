// Placement: the device of each node.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

struct PlaceOptions {
  // Where a node asks for a type or index of device that its task has not, or that its op cannot run on,
  // give it a CPU of that task. Otherwise that is an error.
  bool soft_placement = false;
  // Can nodes of this op run on devices of this type ("CPU", "GPU")? Asked for every op, also for those
  // that are not kernels. None: all of them can.
  std::function<bool(const OpDef& op, std::string_view type)> has_kernel;
};

// Gives every node one of `devices`, which are full names. Its own device, which may be partial, is
// binding; one that says nothing of a job or task, as "/gpu:0" or "", means the task of `default_device`.
// What is open then is taken from `default_device` where it fits, else from the first of the devices that
// do. A CPU is preferred unless the node or the default asks for another type. Nodes
// that use a variable and leave its task open go to the task of the first node that uses it: its
// ReadVariable, if it is there. Throws one invalid_argument that lists every node that cannot be placed,
// with the device that it wants, and the devices that there are.
void place(GraphDef& graph, const std::vector<DeviceName>& devices, const DeviceName& default_device,
           const PlaceOptions& options = {});

// A line per node: name, op, device; aligned in columns.
std::string placement_table(const GraphDef& graph);
// The graph in Graphviz's language, with a cluster per task and dashed control edges.
std::string to_dot(const GraphDef& graph);

}  // namespace actorflow
