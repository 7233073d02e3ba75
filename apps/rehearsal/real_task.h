// A task of a training job as a real process: one life after the other.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/rehearsal/child_process.h"
#include "dataflow/cluster/device_name.h"

namespace actorflow {

// Not thread-safe. Its process ends with it.
class RealTask {
 public:
  using RealTime = std::chrono::steady_clock;
  // Where it listens; the address as a number, 0 for any.
  struct Port {
    std::uint32_t ip = 0;
    int number = 0;
  };

  // What its processes say is added to the file `log`.
  RealTask(TaskName name, Port port, std::vector<std::string> command, std::string log);

  const TaskName& name() const { return name_; }
  bool is_running() const { return state_ == State::running; }
  // Its process has ended with an error, and a new one is due.
  bool has_failed() const { return state_ == State::failed; }
  bool was_killed() const { return state_ == State::killed; }
  // Asks the system, without a connection that the task would notice.
  bool is_listening() const;
  std::string describe() const;
  // The end of its log.
  std::string last_lines() const;

  // Unless it is running.
  void start();
  // Nothing after this is from its process any more. Nothing if there is none.
  void kill();
  // SIGSTOP and SIGCONT; holds also for a process that is started meanwhile.
  void hold(bool held);
  // Looks whether its process has ended: one with an error is followed by another, after a pause, as by
  // apps/supervise. Throws Error (internal) for an end that no fault explains.
  void look(RealTime::time_point now);

 private:
  enum class State { none, running, killed, failed, done };

  const TaskName name_;
  const Port port_;
  const std::vector<std::string> command_;
  const std::string log_;
  State state_ = State::none;
  int lives_ = 0;
  bool held_ = false;
  RealTime::time_point restart_at_{};
  std::optional<ChildProcess> process_;
};

}  // namespace actorflow
