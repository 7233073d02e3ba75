// Planning of one combination of feeds, fetches and targets of a session's graph. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/core/task_context.h"
#include "dataflow/graph/graph.h"
#include "schema/master.h"

namespace actorflow {

// The kind of step of a plan: names of fed and fetched tensors ("node:2", or "node" for its first
// output), and of nodes that run too.
struct StepKind {
  std::vector<std::string> feeds, fetches, targets;
};
// Moves the names out of the step.
StepKind take_kind(RunStep& step);

// Steps with the same signature share a plan. Each name has its length, since it may hold any character.
std::string signature(const StepKind& kind);

// The edge of that name. Throws not_found, or invalid_argument for an output that the node does not
// have.
Edge find_edge(const GraphDef& graph, const std::string& name);
// The types of the tensors that a kind of step is fed. Throws as find_edge().
std::vector<TensorType> feed_types(const GraphDef& graph, const StepKind& kind);

// The part of the graph that steps of this kind need, with folded constants and merged common
// subexpressions. Throws Error for names that the graph does not have, or a placeholder that is not fed.
GraphDef simplify_step(const GraphDef& graph, const StepKind& kind, const TaskContext& task);

// The devices that nodes may use.
struct PlacementRules {
  std::vector<DeviceName> devices;
  bool soft_placement = true;
};
// Gives each node a device; open ones prefer the CPU of this task. Throws invalid_argument that names
// each node that cannot be placed.
void place_step(GraphDef& graph, const PlacementRules& rules, const TaskContext& task);

// The part of a plan that one task runs.
struct PlannedPart {
  TaskId task{};
  GraphDef graph;
  std::vector<std::int32_t> args;  // the feeds that it takes, by position
  bool begins_ahead = false;       // begun_ahead.h
  bool may_capture = false;        // capturing.h
};
// Fuses nodes of a placed graph that one kernel can compute and cuts it at the borders of tasks.
std::vector<PlannedPart> cut_step(const GraphDef& placed, const TaskContext& task);

}  // namespace actorflow
