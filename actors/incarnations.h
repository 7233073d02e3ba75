// The incarnations of the tasks that a session has run on.
#pragma once

#include <map>

#include "actors/messages.h"

namespace actorflow {

// A task that comes back as another incarnation has lost the variables that it had. Not thread-safe.
class Incarnations {
 public:
  // False if the session has seen another incarnation of the task.
  bool recognise(const Sender& task) {
    return seen_.try_emplace(task.task, task.incarnation).first->second == task.incarnation;
  }

 private:
  std::map<TaskId, std::uint64_t> seen_;  // the first ones
};

}  // namespace actorflow
