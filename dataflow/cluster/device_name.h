// Device names: "/job:worker/replica:0/task:1/device:GPU:0", short "/gpu:0", or any part of them.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "dataflow/values/same_build.h"

namespace actorflow {

// Whether the name is a letter followed by letters, digits, '_' and '-'.
bool is_job_name(std::string_view name);

// A device, or a partial specification of one: fields that are not set are open.
struct DeviceName {
  std::optional<std::string> job;
  std::optional<int> replica;
  std::optional<int> task;
  std::optional<std::string> type;  // "CPU", "GPU"
  std::optional<int> index;

  // The device of that name; "" gives an open name. Throws invalid_argument that names the part that is
  // not understood.
  static DeviceName parse(std::string_view text);
  // The canonical name: only the fields that are set, "" if none.
  std::string to_string() const;
  // The fields of `inner` that are set, and the fields of `outer` elsewhere.
  static DeviceName merge(const DeviceName& outer, const DeviceName& inner);
  // True if every field that is set here has the same value in `full`.
  bool matches(const DeviceName& full) const;

  auto operator<=>(const DeviceName&) const = default;
};

// The part of a name that names a task.
DeviceName task_part(const DeviceName& device);
// True if the name sets nothing of a task, such as "/gpu:0" or "".
bool names_no_task(const DeviceName& device);

// A task of a cluster: an actor system of its own.
struct TaskName {
  std::string job;
  int index = 0;

  std::string to_string() const;                 // "/job:worker/task:1"
  static TaskName parse(std::string_view text);  // throws unless job and task are both there
  auto operator<=>(const TaskName&) const = default;
};
// Whether a node that asks for this device may be on that task. Does not check that the task has the
// device.
bool may_be_on(const DeviceName& wanted, const TaskName& task);

}  // namespace actorflow
