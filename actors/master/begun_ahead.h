// Which parts of a training step may begin before a client asks for the step. Pure functions.
#pragma once

#include <set>

#include "actors/core/task_context.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// The tasks of a placed graph whose parts may begin the next step by themselves when they have ended
// one, so that the parameters that they send come with the end of that step: one round trip a step in
// place of two.
//
// Until something of another task comes, such a part only reads variables that it has itself updated in
// the step before, and computes with them. The shard begins it when the updates have been applied, so it
// reads what a step that is asked for then would read. None where that would be another value: with a
// bound of staleness, which holds only for reads after the replica's clock has moved; and none where a
// replica may contribute to a step twice, for which it would wait for the end of the step. None where a
// step ends when it has handed in its gradients, since the end is told with what the next step sends,
// after the updates. None within a
// process either, where a round trip costs less than the messages between a worker and its shard about
// when to begin.
std::set<TaskName> tasks_that_begin_ahead(const GraphDef& placed, const TaskContext& task);

// Whether a step of the graph may change variables, so that values that were read before it are old.
bool changes_variables(const GraphDef& graph);

}  // namespace actorflow
