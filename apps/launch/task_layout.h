// Which task of a job runs on which host, and its numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/launch/job_spec.h"
#include "dataflow/cluster/device_name.h"

namespace actorflow {

// The place of a worker among all, as MPI, Horovod and torchrun count.
struct RankNumbers {
  int rank = 0, world_size = 1;
  int local_rank = 0, local_world_size = 1;  // among the workers of its host
  int cross_rank = 0, cross_size = 1;        // among the workers of that local rank on all hosts
  int group_rank = 0, group_world_size = 1;  // of its host among the hosts with workers

  bool operator==(const RankNumbers&) const = default;
};

struct LaunchedTask {
  TaskName name;                    // jobs "ps", "chief", "worker", "evaluator"
  int host = 0;                     // index into JobSpec::hosts; 0 for this machine if there are none
  std::optional<RankNumbers> rank;  // of workers and the chief
  std::optional<std::vector<int>> gpus;  // CUDA_VISIBLE_DEVICES; none: left to the task
  int port = 0;                          // 0: not chosen yet, or none (the evaluator's)
  int restart = 0;                       // how often the task has been started again

  // "worker 1".
  std::string label() const { return name.job + " " + std::to_string(name.index); }
  bool is_served() const { return name.job != "evaluator"; }
  // Its host also has the port where torch.distributed meets.
  bool is_first_rank() const { return rank && rank->rank == 0; }
};

// The number of hosts: at least 1.
int num_hosts(const JobSpec& spec);

// All tasks: ps tasks, then ranks in order, then the evaluator. Hosts are filled one after the other.
// Throws invalid_argument if there is no program, or there are too few slots, GPUs or workers.
std::vector<LaunchedTask> lay_out(const JobSpec& spec);

}  // namespace actorflow
