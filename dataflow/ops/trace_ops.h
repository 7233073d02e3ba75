// A node that records what its task does, for traces of jobs (graph/job_trace.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/graph/job_trace.h"

namespace actorflow {

// -> clock int64 [3]: the task's steady clock at begin and end, in microseconds, and how many events were
//    dropped; texts string [n, 4] and numbers int64 [n, 6]: the events, for task_record_of().
// The node takes `milliseconds`, from 0 to max_record_milliseconds, in which the task goes on with its
// work; with 0 it tells its clock. It has no gradient. It fails as unavailable if the task is being
// recorded already.
inline constexpr std::int64_t max_record_milliseconds = 60'000;
std::array<Output, 3> record_task(Graph& graph, std::int64_t milliseconds);
const OpDef& record_task_op();  // attr milliseconds

std::span<const OpDef* const> trace_ops();

// The outputs of the node for these events.
std::vector<Tensor> record_tensors(const TaskRecord& record);
// The other way; times stay those of the task's clock. Throws invalid_argument if they are none.
TaskRecord task_record_of(const std::string& task, std::span<const Tensor> tensors);

}  // namespace actorflow
