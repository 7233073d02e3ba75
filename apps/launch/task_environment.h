// The environment variables of a task of a launched job.
#pragma once

#include <string>
#include <vector>

#include "apps/launch/task_layout.h"

namespace actorflow {

// The addresses of a job's tasks.
struct JobAddresses {
  std::vector<std::string> hosts;  // by LaunchedTask::host, as tasks reach each other
  int master_port = 0;             // on the host of rank 0, beside the ports of the tasks; 0 = none
};

// "host:port" or "[ipv6]:port".
std::string address_of(const std::string& host, int port);

// {"cluster": {"ps": [...], "worker": [...]}, "task": {"type": ..., "index": ...}}, the same for all
// tasks but for "task". Every task but the evaluator must have its port.
std::string tf_config(const std::vector<LaunchedTask>& tasks, const LaunchedTask& task,
                      const JobAddresses& addresses);

// TF_CONFIG and the restart count for every task; for a rank also RANK, WORLD_SIZE, LOCAL_RANK, ... and
// where GPUs are divided CUDA_VISIBLE_DEVICES. In order of their names.
std::vector<EnvironmentVariable> task_environment(const std::vector<LaunchedTask>& tasks,
                                                  const LaunchedTask& task,
                                                  const JobAddresses& addresses);

// The same for a task of an elastic job, which has no number for good, and no addresses: how many
// tasks the job was started with, LOCAL_RANK, and the restart count. Beside it the keeper gives it the
// socket to the launcher (schema/environment/elastic_link.h).
std::vector<EnvironmentVariable> elastic_environment(const LaunchedTask& task, int workers);

// The names of variables that an outer launcher may have set: a task must not see these values.
const std::vector<std::string>& launcher_variables();

}  // namespace actorflow
