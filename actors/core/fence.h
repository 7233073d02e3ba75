// Refusal of steps of an older fencing epoch, for actors that hold state.
#pragma once

#include <string_view>

#include "actors/core/task_context.h"

namespace actorflow {

// The error aborted: "fenced: ...", naming what is refused, the task and its epoch.
Status fenced(std::string_view what, FencingEpoch epoch, const TaskContext& task);
// Throws fenced() if the call belongs to a step of an older epoch than the task's `epoch`.
void check_fence(const StateCall& call, FencingEpoch epoch, const TaskContext& task);

}  // namespace actorflow
