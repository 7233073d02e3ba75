// How a master runs one combination of feeds, fetches and targets of a session's graph.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "actors/task_context.h"
#include "dataflow/graph.h"
#include "schema/master.h"

namespace actorflow {

// "node:2" or "node", which means its first output. Throws not_found, or invalid_argument for an output
// that the node does not have.
Edge find_edge(const GraphDef& graph, const std::string& name);

// Feeds, fetches and targets by name: steps with the same signature share a plan.
std::string signature(const RunStep& step);

// The part of a plan that one task runs.
struct PlannedPart {
  TaskId task{};
  GraphDef graph;
  std::vector<std::int32_t> args;  // the feeds that it takes, by position
};

// Prunes the graph to what the step needs, folds constants, merges common subexpressions, places what
// is left on the cluster's devices, fuses nodes that one kernel can compute and cuts the graph at the
// borders of tasks. Throws Error for names that the graph does not have, a placeholder that is not fed,
// or devices that do not exist.
std::vector<PlannedPart> plan_step(const GraphDef& graph, const RunStep& step, const TaskContext& task);

// Full names of the devices on which a session of this task can place nodes.
std::vector<DeviceName> known_devices(const TaskContext& task);

}  // namespace actorflow
