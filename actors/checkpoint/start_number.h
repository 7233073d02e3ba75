// The order of a task's processes, stored in a folder of checkpoints.
#pragma once

#include <cstdint>
#include <string>

#include "actors/runtime/storage.h"
#include "dataflow/cluster/device_name.h"

namespace actorflow {

// Takes the number after those of the task's earlier processes, from 1 on, for
// ServerOptions::start_number. Throws what Storage throws.
std::uint32_t take_start_number(Storage& storage, const std::string& folder, const TaskName& task);

}  // namespace actorflow
