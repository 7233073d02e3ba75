// The script of --host_discovery, which prints the hosts of an elastic job, a line for each:
// "host:slots" as Horovod's, or "host slots=N".
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/launch/job_spec.h"
#include "apps/launch/keeper/spawn.h"

namespace actorflow {

// Runs it every second. A run takes 10 s at most; one that fails changes nothing, and is said once. Not
// thread-safe.
class HostDiscovery {
 public:
  using Clock = std::chrono::steady_clock;
  using Say = std::function<void(const std::string&)>;

  // Throws Error if there is no such program.
  HostDiscovery(const std::string& script, Say say);
  HostDiscovery(const HostDiscovery&) = delete;
  HostDiscovery& operator=(const HostDiscovery&) = delete;
  ~HostDiscovery();  // kills it if it runs

  // Waits for a run; after 2 s it says so. Empty if `interrupt` can be read before. Throws
  // failed_precondition with what went wrong.
  std::vector<LaunchHost> first(const FileDescriptor& interrupt);
  // Begins a run if it is time for one. Returns the hosts when a run has ended and they are others than
  // before.
  std::optional<std::vector<LaunchHost>> look();
  // When look() may have something to do.
  Clock::time_point next_look() const;

 private:
  void begin();
  // Whether the run is over, with how it has ended, as waitpid() says; kills one that goes too far.
  std::optional<int> end_of_run();
  void read_output();
  void limit_run();
  std::vector<LaunchHost> hosts_of_run(int status) const;

  const std::string script_, path_;
  const Say say_;
  pid_t id_ = -1;
  FileDescriptor output_;
  std::string printed_, last_failure_;
  std::string mistake_;  // why the run is worth nothing, however it ends; "" = none
  Clock::time_point began_{}, next_run_{};
  std::vector<LaunchHost> hosts_;
};

}  // namespace actorflow
