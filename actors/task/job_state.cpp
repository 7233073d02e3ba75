#include "actors/task/job_state.h"

#include <algorithm>
#include <iterator>

#include "dataflow/values/bounded_wait.h"

namespace actorflow {

void JobState::stop(const std::string& reason, Code code) {
  const std::scoped_lock lock(mutex_);
  if (!reason_) {
    reason_ = reason;
    code_ = code;
  }
  changed(lock);
}

Status JobState::failure() const {
  const std::scoped_lock lock(mutex_);
  return code_ == Code::ok ? Status{} : Status{code_, *reason_};
}

void JobState::replace(const std::string& reason) {
  {
    const std::scoped_lock lock(mutex_);
    if (replaced_.empty()) replaced_ = reason;
  }
  stop(reason);
}

std::string JobState::replaced() const {
  const std::scoped_lock lock(mutex_);
  return replaced_;
}

bool JobState::stopped() const {
  const std::scoped_lock lock(mutex_);
  return reason_.has_value();
}

std::string JobState::wait_for_stop() {
  wait(Clock::never, [this] { return reason_.has_value(); });
  const std::scoped_lock lock(mutex_);
  return *reason_;
}

bool JobState::wait_for_stop(std::chrono::milliseconds timeout) {
  wait(runtime_.clock().now() + bounded_wait(timeout), [this] { return reason_.has_value(); });
  return stopped();
}

void JobState::present(const TaskIdentity& replica) {
  const std::scoped_lock lock(mutex_);
  Replica& known = replicas_[replica.name];
  if (known.incarnation != replica.incarnation) known = {replica.incarnation, false};
}

void JobState::left(const TaskIdentity& replica) {
  const std::scoped_lock lock(mutex_);
  Replica& known = replicas_[replica.name];
  // An earlier incarnation that left says nothing of its replacement.
  if (known.incarnation != 0 && replica.incarnation != 0 && known.incarnation != replica.incarnation)
    return;
  known.left = true;
  known.incarnation = std::max(known.incarnation, replica.incarnation);
  changed(lock);
}

std::vector<TaskName> JobState::wait_until_left(const std::vector<TaskName>& replicas,
                                                std::chrono::milliseconds timeout) {
  wait(runtime_.clock().now() + bounded_wait(timeout),
       [&] { return reason_ || missing(replicas).empty(); });
  const std::scoped_lock lock(mutex_);
  return missing(replicas);
}

void JobState::changed(const Lock&) {
  std::erase_if(waiting_, [](const auto& entry) {
    const auto& [waker, done] = entry;
    if (!done()) return false;
    waker->wake();
    return true;
  });
}

void JobState::wait(Clock::time_point end, const std::function<bool()>& done) {
  const auto register_waker = [&](Waker& waker) {
    const std::scoped_lock lock(mutex_);
    if (done()) return waker.wake();
    waiting_.insert({&waker, done});
  };
  const auto give_up = [this](Waker& waker) {
    const std::scoped_lock lock(mutex_);
    waiting_.erase(&waker);
  };
  runtime_.wait_until(end, register_waker, give_up);
}

std::vector<TaskName> JobState::missing(const std::vector<TaskName>& replicas) const {
  std::vector<TaskName> result;
  std::ranges::copy_if(replicas, std::back_inserter(result),
                       [this](const TaskName& replica) {
                         const auto known = replicas_.find(replica);
                         return known == replicas_.end() || !known->second.left;
                       });
  return result;
}

}  // namespace actorflow
