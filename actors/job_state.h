// What a process knows of the end of its training job. The border between actors and blocking threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dataflow/device_name.h"

namespace actorflow {

// Thread-safe.
class JobState {
 public:
  // The first reason counts.
  void stop(const std::string& reason);
  bool stopped() const;
  std::string wait_for_stop();

  // A replica has finished its part, or has gone.
  void left(const TaskName& replica);
  // Those that have not left when the time is over.
  std::vector<TaskName> wait_until_left(const std::vector<TaskName>& replicas,
                                        std::chrono::milliseconds timeout);

 private:
  std::vector<TaskName> missing(const std::vector<TaskName>& replicas) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> reason_;
  std::set<TaskName> left_;
};

}  // namespace actorflow
