// What `actorflow launch` is asked to start. Plain values: nothing here has been checked on a machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace actorflow {

// A machine, and how many workers it takes.
struct LaunchHost {
  std::string name;  // as the others reach it; an IPv6 address without brackets
  std::string user;  // for ssh; "" = ssh's choice
  int slots = 1;
  bool is_allocated = false;  // by Slurm, whose srun starts programs there instead of ssh

  // "user@name", the name in brackets if it is an IPv6 address.
  std::string to_string() const;
  bool operator==(const LaunchHost&) const = default;
};

struct EnvironmentVariable {
  std::string name, value;

  bool operator==(const EnvironmentVariable&) const = default;
};

// Paths on every machine, except that `logs` is on the launcher's. "" = none.
struct JobFolders {
  std::string work;    // where tasks start
  std::string data;    // must be there to read; tasks see it as ACTORFLOW_DATA_DIR
  std::string output;  // must be there to write; tasks see it as ACTORFLOW_OUTPUT_DIR
  std::string logs;    // a file for each task

  bool operator==(const JobFolders&) const = default;
};

// Seconds, from the first pause to the longest one.
struct PauseRange {
  int first_s = 0, longest_s = 0;

  bool operator==(const PauseRange&) const = default;
};

struct JobSpec {
  std::vector<std::string> command;  // the program, and its arguments
  std::vector<LaunchHost> hosts;     // none: this machine, with a slot for each worker
  int workers = 1;                   // tasks with ranks, the chief among them
  int ps = 0;                        // spread over the hosts in turn; they take no slots
  bool hybrid = false;     // one ps and one worker on each host; `workers` and `ps` say nothing
  bool chief = false;      // rank 0 is the task 0 of job "chief" instead of "worker"
  bool evaluator = false;  // on the last host, without a slot
  std::vector<EnvironmentVariable> environment;  // beside what the launcher tells each task
  std::optional<int> num_gpus;  // of each host, divided among its workers; none: left to the tasks
  int restarts = 0;             // of tasks of the job, altogether
  std::optional<int> min_workers, max_workers;  // of an elastic job, of which `workers` begin
  std::string host_discovery;      // a script that prints its hosts, again and again; "" = none
  // How long a host on which a task has ended gets no new one; none: until the script drops it.
  std::optional<PauseRange> cooldown;
  std::optional<int> reset_limit;  // how often its members may change
  int elastic_timeout_s = 600;     // how long it may have less than `min_workers`
  JobFolders folders;

  bool is_elastic() const {
    return min_workers || max_workers || !host_discovery.empty() || reset_limit;
  }
  bool operator==(const JobSpec&) const = default;
};

}  // namespace actorflow
