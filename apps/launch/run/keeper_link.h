// The launcher's end of a keeper.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "apps/launch/keeper/frames.h"
#include "apps/launch/keeper/spawn.h"
#include "apps/launch/run/launch_options.h"

namespace actorflow {

// Whether the host is this machine, which needs no ssh: "localhost", or its own name.
bool is_this_machine(const LaunchHost& host);

// A keeper on a host: a child of ours, of ssh's or of Slurm's. It ends with this object, and then all
// its tasks do. Not thread-safe.
class KeeperLink {
 public:
  // Starts it; what goes wrong on the way is said by words(). Throws Error if this machine has no ssh,
  // or no srun for the machines of an allocation.
  KeeperLink(const LaunchHost& host, const LaunchOptions& options);
  KeeperLink(const KeeperLink&) = delete;
  KeeperLink& operator=(const KeeperLink&) = delete;
  ~KeeperLink();

  // Queues the frame until the keeper takes it.
  void send(const Frame& frame);
  // Adds what to wait for, and does what can be done without waiting.
  void add_to(std::vector<pollfd>& list) const;
  void move_bytes();
  // The next frame that has come. Throws data_loss.
  std::optional<Frame> next() { return frames_.next(); }
  // Whether more may come.
  bool is_open() const { return bool(from_); }
  // The last line or two that ssh, srun or the keeper has printed to standard error, or that a login
  // shell has printed in place of a keeper; "" if nothing has come from a keeper.
  std::string words();
  // Kills the keeper, or the ssh that has started it, by SIGKILL; has srun kill the keeper and its
  // tasks.
  void kill();
  // Begins to end it: it hears and says nothing any more. For several, before the first is destroyed, so
  // that they share the time that an srun has to end.
  void close();

 private:
  using Clock = std::chrono::steady_clock;

  void flush();

  const bool is_by_srun_;
  pid_t id_ = -1;
  std::optional<Clock::time_point> end_;  // of the time that srun has to end; none: it may go on
  FileDescriptor to_, from_, errors_;
  std::string outbox_, said_;
  FrameReader frames_{true};
};

}  // namespace actorflow
