// The devices of a task, as other tasks and clients are told of them.
#pragma once

#include <string>
#include <vector>

#include "actors/core/task_context.h"
#include "dataflow/cluster/device_name.h"

namespace actorflow {

DeviceName device_name(const TaskName& task, const std::string& type, int index);

std::vector<DeviceInfo> own_devices(const TaskContext& task);

}  // namespace actorflow
