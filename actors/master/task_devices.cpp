#include "actors/master/task_devices.h"

#include <algorithm>
#include <utility>

#include "actors/core/own_devices.h"

namespace actorflow {
namespace {

// Whether each is a device of that task: the answer of another process is not trusted.
bool belong_to(const std::vector<DeviceInfo>& devices, const TaskName& task) {
  return std::ranges::all_of(devices, [&task](const DeviceInfo& device) {
    try {
      const auto name = DeviceName::parse(device.name);
      return name.job == task.job && name.task == task.index && name.replica == 0 && name.type &&
             name.index;
    } catch (const Error&) {
      return false;
    }
  });
}

}  // namespace

TaskDevices::TaskDevices(TaskRef task) : task_(std::move(task)), known_(task_->tasks.size()) {
  known_[static_cast<std::size_t>(task_->own)] = own_devices(*task_);
}

void TaskDevices::find(const std::vector<TaskId>& tasks, Inquiries::Then then) {
  std::vector<TaskId> unknown;
  std::ranges::copy_if(tasks, std::back_inserter(unknown),
                       [this](TaskId id) { return known_[static_cast<std::size_t>(id)].empty(); });
  if (unknown.empty()) return then({});
  const auto number = inquiries_.begin(unknown, std::move(then));
  for (const TaskId task : unknown) tell(*task_, task, GetStatus{number});
}

std::vector<DeviceInfo> TaskDevices::of(TaskId task) const {
  const auto& known = known_[static_cast<std::size_t>(task)];
  if (!known.empty()) return known;
  return {{device_name(task_->name_of(task), "CPU", 0).to_string(), "CPU", 0, 0}};
}

void TaskDevices::on_status(TaskId from, TaskStatus& message) {
  if (!message.devices.empty() && belong_to(message.devices, task_->name_of(from)))
    known_[static_cast<std::size_t>(from)] = std::move(message.devices);
  inquiries_.answered(message.request, from);
}

void TaskDevices::on_peer_lost(const PeerLost& message) {
  known_[static_cast<std::size_t>(message.task)].clear();
  inquiries_.on_peer_lost(message);
}

}  // namespace actorflow
