// Which task of which cluster a program is: by flags, or by TF_CONFIG.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "dataflow/cluster/task_config.h"

namespace actorflow {

// The value of the environment variable TF_CONFIG, if it is set and not empty.
std::optional<std::string> tf_config();

// The jobs ps and worker. Throws invalid_argument that lists every mistake.
ClusterSpec cluster_of_hosts(const std::string& ps_hosts, const std::string& worker_hosts);

// --ps_hosts --worker_hosts --job_name --task_index, as distributed TensorFlow's programs have them.
class ClusterFlags {
 public:
  void add_to(CLI::App& app);
  // From the flags if any is given, else from TF_CONFIG; logs which, where there are both. Throws
  // UsageError that names the flags that are missing, or lists what is wrong.
  TaskConfig task() const;

 private:
  TaskConfig from_flags() const;

  std::optional<std::string> ps_hosts_, worker_hosts_, job_name_;
  std::optional<int> task_index_;
};

}  // namespace actorflow
