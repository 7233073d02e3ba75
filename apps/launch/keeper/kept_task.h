// A task's process on its machine.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "apps/launch/keeper/spawn.h"

namespace actorflow {

// The leader of a process group, and the pipes of what it prints. The group is killed with the object.
class KeptTask {
 public:
  // Called with a stream (1: standard output, 2: standard error) and bytes of it.
  using Sink = std::function<void(int, const std::string&)>;

  // Starts it; the port is what its sign of life may be. One of an elastic job has a socket to the
  // launcher. Throws Error that names the program.
  KeptTask(SpawnRequest request, int port, bool elastic);
  KeptTask(const KeptTask&) = delete;
  KeptTask& operator=(const KeptTask&) = delete;
  ~KeptTask();

  pid_t id() const { return id_; }
  int port() const { return port_; }
  void signal_group(int signal) const;

  // Adds what to wait for.
  void add_to(std::vector<pollfd>& list) const;
  // Takes what is there of each stream, at most 64 KiB.
  void take_output(const Sink& sink);
  // The bytes that the task has sent to the launcher by its socket, "" if it has none. Also passes on
  // what the launcher has sent.
  std::string take_words();
  // Keeps the bytes until the task takes them. A task without a socket gets none.
  void tell(const std::string& bytes);
  // Kills what is left of the task's process group and takes the rest of its output. Call once, when the
  // task has ended and before it is reaped: until then no other process can have its number.
  void finish(const Sink& sink);
  // Call when the task has been reaped: there is nothing left to kill.
  void forget() { id_ = -1; }

  // Whether it has shown a sign of life: it has reported its first step (apps/launch/step_report.h) or,
  // if it does not report steps, has printed a line, or listens on its port.
  bool is_alive() const { return alive_; }
  void listens() { alive_ = alive_ || !reports_steps_; }

 private:
  void take_report();
  void hand_on();

  pid_t id_ = -1;
  int port_;
  std::array<FileDescriptor, 2> streams_;
  FileDescriptor report_, socket_;
  std::string untold_;
  bool alive_ = false, reports_steps_ = false;
};

}  // namespace actorflow
