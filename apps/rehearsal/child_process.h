// Child processes.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace actorflow {

// A child in a process group of its own, so that Ctrl-C in a terminal does not reach it. It ends with
// this object, or with the thread that made it, however that ends. Not thread-safe.
class ChildProcess {
 public:
  // `command` begins with the program's path. Its output is added to the file. Throws std::system_error.
  ChildProcess(std::vector<std::string> command, const std::string& output_file);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  pid_t id() const { return id_; }
  // Sends a signal to its whole group, unless it has ended.
  void send_signal(int signal);
  // Nothing while it runs, then the exit status, or 128 + the signal that ended it.
  std::optional<int> status();

 private:
  pid_t id_ = -1;
  std::optional<int> status_;
};

}  // namespace actorflow
