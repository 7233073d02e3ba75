// A task of a training job as a real process, and its successors.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/rehearsal/child_process.h"
#include "dataflow/cluster/device_name.h"

namespace actorflow {

// A task. Its process ends with this object. Not thread-safe.
class RealTask {
 public:
  using RealTime = std::chrono::steady_clock;
  // The port on which it listens; the address as a number, 0 for any.
  struct Port {
    std::uint32_t ip = 0;
    int number = 0;
  };

  // The output of its processes is added to the file `log`.
  RealTask(TaskName name, Port port, std::vector<std::string> command, std::string log);

  const TaskName& name() const { return name_; }
  bool is_running() const { return state_ == State::running; }
  // True if its process has ended with an error, and a new one is due.
  bool has_failed() const { return state_ == State::failed; }
  bool was_killed() const { return state_ == State::killed; }
  // Whether it listens, by the system's table, without a connection that the task would notice.
  bool is_listening() const;
  std::string describe() const;
  // The end of its log.
  std::string last_lines() const;

  // Starts a process unless one is running.
  void start();
  // Kills its process, if there is one, and waits until it is gone.
  void kill();
  // SIGSTOP or SIGCONT; also applies to a process that is started meanwhile.
  void hold(bool held);
  // Checks whether its process has ended: after an error another one is started after a pause, as by
  // `actorflow supervise`. Throws Error (internal) for an end that no fault explains.
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
