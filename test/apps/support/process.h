// Child processes for tests.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace actorflow::test {

// A program; the destructor kills it if it still runs. Its standard output and error are collected as
// one text. Not thread-safe.
class Process {
 public:
  // `command` begins with the program: a path, or a name in the build's bin/.
  explicit Process(std::vector<std::string> command);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  // The exit status, or 128 + the signal that ended it. A process that takes longer than `hang_limit` is
  // killed and counts as a failed check.
  int wait();
  bool has_ended() { return poll_status().has_value(); }
  // Sends a signal; after SIGSTOP waits until it has stopped.
  void send_signal(int signal);
  // Waits for the text; false if the process ends or `hang_limit` passes before.
  bool prints(const std::string& text);
  // Its output so far.
  std::string output();
  pid_t id() const { return id_; }

 private:
  void read_output();
  std::optional<int> poll_status();

  std::string name_;
  pid_t id_ = -1;
  int pipe_ = -1;
  std::optional<int> status_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string output_;
  bool output_ended_ = false;
  std::thread reader_;
};

}  // namespace actorflow::test
