#include "actors/job_state.h"

#include <algorithm>
#include <iterator>

namespace actorflow {

void JobState::stop(const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  if (!reason_) reason_ = reason;
  changed_.notify_all();
}

bool JobState::stopped() const {
  const std::scoped_lock lock(mutex_);
  return reason_.has_value();
}

std::string JobState::wait_for_stop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return reason_.has_value(); });
  return *reason_;
}

void JobState::left(const TaskName& replica) {
  const std::scoped_lock lock(mutex_);
  left_.insert(replica);
  changed_.notify_all();
}

std::vector<TaskName> JobState::wait_until_left(const std::vector<TaskName>& replicas,
                                                std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return reason_ || missing(replicas).empty(); });
  return missing(replicas);
}

std::vector<TaskName> JobState::missing(const std::vector<TaskName>& replicas) const {
  std::vector<TaskName> result;
  std::ranges::copy_if(replicas, std::back_inserter(result),
                       [this](const TaskName& replica) { return !left_.contains(replica); });
  return result;
}

}  // namespace actorflow
