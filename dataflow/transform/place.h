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
  // Gives a node a CPU of its task if the task lacks the type or index of device that the node asks for,
  // or its op cannot run there. Otherwise that is an error.
  bool soft_placement = false;
  // Whether nodes of this op can run on devices of this type ("CPU", "GPU"). Asked for every op, kernel
  // or not. If not set, all can.
  std::function<bool(const OpDef& op, std::string_view type)> has_kernel;
};

// Gives every node one of `devices`, which are full names. A node's own device, which may be partial, is
// binding; a name without job and task, such as "/gpu:0" or "", means the task of `default_device`.
// Fields that are still open are taken from `default_device` where it fits, else from the first device
// that fits. A CPU is preferred unless the node or the default asks for another type. Nodes that use a
// variable and leave its task open go to the task of the first node that uses it: its ReadVariable, if
// it is there. Throws one invalid_argument that lists every node that cannot be placed, with the device
// that it asks for, and the devices that exist.
void place(GraphDef& graph, const std::vector<DeviceName>& devices, const DeviceName& default_device,
           const PlaceOptions& options = {});

// A line per node: name, op, device; aligned in columns.
std::string placement_table(const GraphDef& graph);
// The graph in Graphviz's language, with a cluster per task and dashed control edges.
std::string to_dot(const GraphDef& graph);

}  // namespace actorflow
