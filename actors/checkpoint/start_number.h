// The order of a task's processes, stored in a folder of checkpoints.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "actors/runtime/random.h"
#include "actors/runtime/storage.h"
#include "dataflow/cluster/device_name.h"

namespace actorflow {

// Takes the number after those of the task's earlier processes, from 1 on, for
// ServerOptions::start_number. Processes that call it at the same time get different numbers, as far as
// the disk appends the lines of all of them (NFS may lose one of two). Survives any crash. A full disk
// gives 0, "unknown", with a warning; after a disk_error, which may pass, it is tried again for 15 s,
// with pauses of `sleep` or, without one, of the thread. Throws what Storage throws, and data_loss if
// the disk does not keep what was appended.
std::uint32_t take_start_number(Storage& storage, const std::string& folder, const TaskName& task,
                                Random& random = system_random(),
                                const std::function<void(std::chrono::seconds)>& sleep = {});

}  // namespace actorflow
