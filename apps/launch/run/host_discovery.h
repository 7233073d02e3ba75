// The script of --host_discovery, which prints the hosts of an elastic job, a line for each:
// "host:slots" as Horovod's, or "host slots=N".
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/launch/job_spec.h"
#include "apps/launch/keeper/spawn.h"
#include "dataflow/values/error.h"

namespace actorflow {

// Runs the script every second. A run takes 10 s at most, and ends with the script's own process,
// whoever else holds its output. One that fails changes nothing and is told, unless the one before
// failed in the same way; so is the first one that prints hosts again. There is no other run while one
// that was killed does not end, as where it waits for a disk. Not thread-safe.
class HostDiscovery {
 public:
  using Clock = std::chrono::steady_clock;
  using Say = std::function<void(const std::string&)>;

  // Throws Error if there is no such program.
  HostDiscovery(const std::string& script, Say say);
  HostDiscovery(const HostDiscovery&) = delete;
  HostDiscovery& operator=(const HostDiscovery&) = delete;
  ~HostDiscovery();  // kills it if it runs, and waits for its end for a second at most

  // Waits for a run; after 2 s it says so. Empty if `interrupt` can be read before. Throws Error with
  // what went wrong.
  std::vector<LaunchHost> first(const FileDescriptor& interrupt);
  // Begins a run if it is time for one. Returns the hosts when a run has ended and they are others than
  // before. Throws nothing: what fails, also for lack of memory, is tried again a second later.
  std::optional<std::vector<LaunchHost>> look();
  // When look() may have something to do.
  Clock::time_point next_look() const;

 private:
  // Where the script is now; throws as the constructor does.
  std::string find_script() const;
  void begin();
  // Kills it if it runs. One that does not end within a second is left to end_of_run().
  void end_early();
  // Whether the run is over, with how it has ended, as waitpid() says; kills one that goes too far.
  // Throws Error if that does not end it.
  std::optional<int> end_of_run();
  void forget_run();
  void read_output();
  void limit_run();
  void kill_run();
  // Throws Error; its code tells ways to fail apart.
  std::vector<LaunchHost> hosts_of_run(int status) const;
  std::optional<std::vector<LaunchHost>> go_on();
  void try_later(Code code, std::string_view why);

  const std::string script_, flag_;  // flag_: as messages name it
  const Say say_;
  pid_t id_ = -1;
  FileDescriptor output_;
  std::string printed_;
  Status mistake_;                // why the run is worth nothing, however it ends; ok = none
  Code last_failure_ = Code::ok;  // of the last run that was told; ok = it printed hosts
  Clock::time_point began_{}, next_run_{};
  std::optional<Clock::time_point> killed_at_;  // while a run that was killed has not ended
  std::vector<LaunchHost> hosts_;
};

}  // namespace actorflow
