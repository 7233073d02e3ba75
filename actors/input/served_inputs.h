// The inputs that a server runs for the steps of its task.
#pragma once

#include <caf/actor.hpp>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "actors/input/dataset.h"
#include "dataflow/cluster/device_name.h"

namespace actorflow {

class Runtime;

// Thread-safe.
class ServedInputs {
 public:
  // See Server::serve_input and Server::skip_input_to. `queues` is the queue shard of `task`.
  void serve(const std::string& name, const Dataset& dataset, Runtime& runtime, const TaskName& task,
             const caf::actor& queues);
  void skip_to(const std::string& name, std::int64_t position, Runtime& runtime) const;
  std::vector<caf::actor> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, caf::actor, std::less<>> inputs_;
};

}  // namespace actorflow
