// The order of a task's processes, which a folder of checkpoints remembers.
#pragma once

#include <cstdint>
#include <string>

#include "actors/runtime/storage.h"
#include "dataflow/cluster/device_name.h"

namespace actorflow {

// One more than the task's processes before this one have taken; from 1 on. For
// ServerOptions::start_number. Throws what Storage throws.
std::uint32_t take_start_number(Storage& storage, const std::string& folder, const TaskName& task);

}  // namespace actorflow
