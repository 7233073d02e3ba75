// The settings of a session that determine how its steps are planned and run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/core/task_context.h"
#include "schema/master.h"

namespace actorflow {

// Immutable: plans in the making outlive the session.
struct SessionSettings {
  // Throws invalid_argument for a filter that is no device name, a negative timeout, or node actors
  // together with CUDA graphs.
  SessionSettings(std::string session_handle, SessionOptions session_options);

  // Whether the session may use a task.
  bool allows(const TaskContext& task, TaskId other) const;

  std::string handle;
  SessionOptions options;
  std::vector<DeviceName> filters;
};
using SettingsRef = std::shared_ptr<const SessionSettings>;

}  // namespace actorflow
