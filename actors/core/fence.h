// How actors that hold state refuse steps of an older fencing epoch.
#pragma once

#include <string_view>

#include "actors/core/task_context.h"

namespace actorflow {

// aborted: "fenced: ...", naming what is refused, the task and its epoch.
Status fenced(std::string_view what, FencingEpoch epoch, const TaskContext& task);
// Throws that if the call belongs to a step of an older epoch than `epoch`, the task's.
void check_fence(const StateCall& call, FencingEpoch epoch, const TaskContext& task);

}  // namespace actorflow
