#include "actors/task_context.h"

#include <fmt/format.h>

#include <algorithm>

namespace actorflow {

TaskId TaskContext::id_of(const TaskName& name) const {
  const auto found = std::ranges::find(tasks, name);
  if (found != tasks.end()) return static_cast<TaskId>(found - tasks.begin());
  std::string known;
  for (const auto& task : tasks) known += fmt::format(" {}", task.to_string());
  throw invalid_argument("the cluster has no task " + name.to_string() + "; it has" + known);
}

}  // namespace actorflow
