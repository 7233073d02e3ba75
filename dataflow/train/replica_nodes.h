// What asynchronous and synchronous replicas add to their graphs alike. For the sources of this folder
// only.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataflow/train/replica_training.h"

namespace actorflow {

// The task of a device in the form of TaskName, "" if it names none.
std::string task_of(const std::string& device);

// The CPU of a device's task: what is counted with an update is looked at there.
std::string host_of(const std::string& device);

// What the task of the global step waits for, so that a step counts after its updates.
std::vector<Output> gathered(const Training& t, const std::vector<Output>& updates);

// A variable of the replica's own, on its device: an int64 scalar that is 0 at first.
Variable local_variable(const Training& t, const std::string& what);

// A node that gives the counts of the gradients for a variable, by replica (GradientCounts).
Output count_gradients(const Training& t, const Variable& variable, const std::string& name);

// Numbers that go to other tasks with the gradients. To each task they leave with the first one that it
// gets, which is that of the last of its variables; earlier they would wake it once more.
class SentNumbers {
 public:
  using Named = std::pair<Output, std::string_view>;

  SentNumbers(const Training& t, const std::vector<Named>& numbers);

  // As they are sent to a task that gets gradients; any of them for another task.
  const std::vector<Output>& to(const std::string& device) const;

 private:
  std::map<std::string, std::vector<Output>> sent_;  // by task
};

}  // namespace actorflow
