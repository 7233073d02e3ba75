// A task of the job whose recovery is measured, as a process: parameter server or replica of a small
// model, which writes to standard output when it has made a step, and of whom it has heard nothing.
#pragma once

#include <cstdint>
#include <string>

namespace actorflow::bench {

struct RecoveryOptions {
  bool sync = false;
  bool insecure = false;  // on a network of our own
  std::int64_t heartbeat_timeout_ms = 5'000;
  std::string checkpoints = {};
  double save_secs = 1;
};

// A line of a task's output, told apart from others by its first character: "@ <ns> <step>" for a step
// that has ended, "! <ns> <message>" for a warning; nanoseconds of the steady clock, which is the same
// for all processes.
constexpr char step_mark = '@', warning_mark = '!';
std::int64_t steady_ns();

// Is the task that `tf_config` names until it is killed, or its job is over. Returns the exit status.
int run_recovery_task(const std::string& tf_config, const RecoveryOptions& options);

}  // namespace actorflow::bench
