// The devices of the cluster's tasks, as known to a master.
#pragma once

#include <vector>

#include "actors/core/task_context.h"
#include "actors/master/inquiries.h"

namespace actorflow {

// Asks a task when a plan or a client needs its devices, and keeps the answer until the task is lost. So
// no session waits for tasks that it does not use.
class TaskDevices {
 public:
  explicit TaskDevices(TaskRef task);

  // Calls `then` when the devices of these tasks are known, which may be at once.
  void find(const std::vector<TaskId>& tasks, Inquiries::Then then);
  // The known devices of a task; before it has answered its first CPU, which every task has.
  std::vector<DeviceInfo> of(TaskId task) const;

  void on_status(TaskId from, TaskStatus& message);
  void on_peer_lost(const PeerLost& message);

 private:
  TaskRef task_;
  Inquiries inquiries_;
  std::vector<std::vector<DeviceInfo>> known_;  // by TaskId; none: unknown
};

}  // namespace actorflow
