#include "actors/core/own_devices.h"

namespace actorflow {

DeviceName device_name(const TaskName& task, const std::string& type, int index) {
  return {task.job, 0, task.index, type, index};
}

std::vector<DeviceInfo> own_devices(const TaskContext& task) {
  std::vector<DeviceInfo> devices;
  for (const Device* device : task.devices) {
    const std::string type = device->type() == DeviceType::cpu ? "CPU" : "GPU";
    devices.push_back({device_name(task.self.name, type, device->index()).to_string(), type,
                       device->memory_bytes(), task.self.incarnation});
  }
  return devices;
}

}  // namespace actorflow
