// The keepers of all hosts of a job.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apps/launch/run/keeper_link.h"

namespace actorflow {

// A frame from a host's keeper; an empty one: the keeper is lost.
struct Arrival {
  int host = 0;
  Frame frame;
};

class Keepers {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts the keepers of all hosts at once.
  explicit Keepers(const LaunchOptions& options);
  ~Keepers();  // kills those that have not left

  // Starts the keeper of a host: a new one, whose number is size(), or one whose keeper is lost or is to
  // be killed. Throws Error.
  void connect(int number, const LaunchHost& host, const LaunchOptions& options);

  int size() const { return static_cast<int>(links_.size()); }
  // The host in messages.
  const std::string& name(int host) const { return names_.at(static_cast<std::size_t>(host)); }
  void send(int host, const Frame& frame) { link(host).send(frame); }
  void send_all(const Frame& frame);
  // What a lost keeper has said.
  std::string words(int host) { return link(host).words(); }

  // Kills the host's keeper (SIGKILL); its loss arrives like any other.
  void kill(int host) { link(host).kill(); }

  // Waits until frames have come, something has happened to one of `others`, or until `end`.
  std::vector<Arrival> wait(Clock::time_point end, std::vector<pollfd> others);
  // Whether no keeper is left.
  bool all_have_left() const;

 private:
  Keepers() = default;  // the destructor ends those that are there if another cannot be started
  KeeperLink& link(int host) { return *links_.at(static_cast<std::size_t>(host)); }
  std::vector<Arrival> arrivals();

  std::vector<std::string> names_;
  std::vector<std::unique_ptr<KeeperLink>> links_;
  std::vector<bool> lost_;
};

}  // namespace actorflow
