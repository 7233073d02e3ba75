#include "actors/task_context.h"

#include <fmt/format.h>

#include <algorithm>

namespace actorflow {

TaskId TaskContext::id_of(const TaskName& name) const {
  const auto found = std::ranges::lower_bound(tasks, name);  // they are sorted
  if (found != tasks.end() && *found == name) return static_cast<TaskId>(found - tasks.begin());
  std::string known;
  for (const auto& task : tasks) known += fmt::format(" {}", task.to_string());
  throw invalid_argument("the cluster has no task " + name.to_string() + "; it has" + known);
}

}  // namespace actorflow
