// What a process knows of the end of its training job. The border between actors and blocking threads.
#pragma once

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

  // The first reason counts. `code`: why the job has failed, if it has.
  void stop(const std::string& reason, Code code = Code::ok);
  bool stopped() const;
  std::string wait_for_stop();
  // The same, at most for so long. Whether it has stopped.
  bool wait_for_stop(Clock::time_point::duration timeout);

  // Ok unless the job has failed.
  Status failure() const;

  // Stops because another process has taken this one's place.
  void replace(const std::string& reason);
  std::string replaced() const;  // why, or ""

  // A replica is there. If it is another incarnation than the one that has left, it counts anew.
  void present(const TaskIdentity& replica);
  // It has finished its part, or has gone. Incarnation 0: whichever, it cannot be reached.
  void left(const TaskIdentity& replica);
  // Those that have not left when the time is over.
  std::vector<TaskName> wait_until_left(const std::vector<TaskName>& replicas,
                                        Clock::time_point::duration timeout);

 private:
  struct Replica {
    std::uint64_t incarnation = 0;
    bool left = false;
  };
  std::vector<TaskName> missing(const std::vector<TaskName>& replicas) const;

  // Until `done`, which is asked with the mutex held, or `end`.
  using Lock = std::scoped_lock<std::mutex>;
  void wait(Clock::time_point end, const std::function<bool()>& done);
  // Wakes those who have what they wait for. The lock is that of the mutex.
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
