// The state of a training job's end, as known to a process. The border between actors and blocking
// threads.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/runtime/runtime.h"
#include "schema/message.h"

namespace actorflow {

// Thread-safe.
class JobState {
 public:
  // REQUIRES: the runtime outlives this.
  explicit JobState(Runtime& runtime) : runtime_(runtime) {}

  // Stops the job; the first reason counts. `code` is the error if the job has failed.
  void stop(const std::string& reason, Code code = Code::ok);
  bool stopped() const;
  std::string wait_for_stop();
  // Waits for the stop, at most for `timeout`; false if it has not come.
  bool wait_for_stop(std::chrono::milliseconds timeout);

  // Ok unless the job has failed.
  Status failure() const;

  // Stops because another process has taken this one's place.
  void replace(const std::string& reason);
  std::string replaced() const;  // why, or ""

  // Notes that a replica is there. A newer incarnation than one that has left counts as a new replica.
  void present(const TaskIdentity& replica);
  // Notes that a replica has finished its part, or has gone. Incarnation 0: the replica cannot be
  // reached.
  void left(const TaskIdentity& replica);
  // Waits until all replicas have left; returns those that have not when the time is over.
  std::vector<TaskName> wait_until_left(const std::vector<TaskName>& replicas,
                                        std::chrono::milliseconds timeout);

 private:
  struct Replica {
    std::uint64_t incarnation = 0;
    bool left = false;
  };
  std::vector<TaskName> missing(const std::vector<TaskName>& replicas) const;

  // Waits until `done`, which is called with the mutex held, or until `end`.
  using Lock = std::scoped_lock<std::mutex>;
  void wait(Clock::time_point end, const std::function<bool()>& done);
  // Wakes the threads whose condition is true. REQUIRES: the lock is that of the mutex.
  void changed(const Lock& lock);

  Runtime& runtime_;
  mutable std::mutex mutex_;
  std::map<Waker*, std::function<bool()>> waiting_;  // for what
  std::optional<std::string> reason_;
  Code code_ = Code::ok;
  std::string replaced_;
  std::map<TaskName, Replica> replicas_;
};

}  // namespace actorflow
