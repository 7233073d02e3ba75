// A task's process on its machine.
#pragma once

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

  // The descriptors to wait for.
  std::vector<int> open_pipes() const;
  // Takes what is there of each stream, at most 64 KiB.
  void take_output(const Sink& sink);
  // What it says to the launcher, and what that says to it; "" and nothing if it has no socket.
  std::string take_words();
  void tell(const std::string& bytes) const;
  // Ends what is left of its group and takes the rest of its output. Call once, when it has ended and
  // before it is reaped: until then its number is nobody else's.
  void finish(const Sink& sink);
  // It has been reaped: there is nothing left to kill.
  void forget() { id_ = -1; }

  // Whether it has shown a sign of life: it has reported its first step (apps/launch/step_report.h) or,
  // if it does not report steps, has printed a line, or listens on its port.
  bool is_alive() const { return alive_; }
  void listens() { alive_ = alive_ || !reports_steps_; }

 private:
  void take_report();

  pid_t id_ = -1;
  int port_;
  std::array<FileDescriptor, 2> streams_;
  FileDescriptor report_, socket_;
  bool alive_ = false, reports_steps_ = false;
};

}  // namespace actorflow
