// Descriptions of a task's devices, for other tasks and clients.
#pragma once

#include <string>
#include <vector>

#include "actors/core/task_context.h"
#include "dataflow/cluster/device_name.h"

namespace actorflow {

DeviceName device_name(const TaskName& task, const std::string& type, int index);

std::vector<DeviceInfo> own_devices(const TaskContext& task);

}  // namespace actorflow
