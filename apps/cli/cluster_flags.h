// The cluster and task of a program, from flags or the environment.
#pragma once

#include <optional>
#include <string>

#include "dataflow/cluster/task_config.h"
#include "schema/command_line/command_line.h"

namespace actorflow {

// A cluster of the jobs ps and worker. Throws invalid_argument that lists every mistake.
ClusterSpec cluster_of_hosts(const std::string& ps_hosts, const std::string& worker_hosts);

// The flags --ps_hosts --worker_hosts --job_name --task_index, as in programs of distributed TensorFlow.
class ClusterFlags {
 public:
  void add_to(Command& command);
  bool are_given() const;
  // Whether flags or the environment name a task. Throws UsageError for variables that are wrong.
  bool name_a_task() const;
  // The task by the flags if any is given, else by the environment, which may wait for other ranks
  // (schema/environment/task_from_environment.h); logs which one it took if there are both.
  // `has_ps`: whether --ps_hosts is needed. Throws UsageError that names the missing flags, or lists
  // every mistake.
  TaskConfig task(bool has_ps = true) const;

 private:
  TaskConfig from_flags(bool has_ps) const;

  std::optional<std::string> ps_hosts_, worker_hosts_, job_name_;
  std::optional<int> task_index_;
};

}  // namespace actorflow
