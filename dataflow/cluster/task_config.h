// The part that a task has in a training cluster.
#pragma once

#include <string>
#include <vector>

#include "dataflow/cluster/cluster_spec.h"

namespace actorflow {

// Jobs by the names of distributed TensorFlow: a "chief" (or "master") and "worker" tasks train, "ps"
// tasks hold the variables, an "evaluator" tests saved checkpoints and is not part of the cluster that
// trains. Tasks of other jobs have no role.
struct TaskConfig {
  ClusterSpec cluster;  // without the evaluator
  TaskName task;
  // The tasks that train, in the order of their numbers: the chief, then the workers. Without a chief's
  // job the first worker is the chief.
  std::vector<TaskName> replicas;
  int replica = -1;  // the task's number; -1 if it does not train

  // The configuration of a task. Throws one invalid_argument that lists every mistake: two kinds of
  // chiefs, more than one chief or evaluator, a task that the cluster does not have, and what
  // ClusterSpec refuses.
  static TaskConfig make(ClusterSpec::Jobs jobs, const TaskName& task);
  static TaskConfig make(const ClusterSpec& cluster, const TaskName& task);

  // The same where that many tasks in a row are one replica, which the first of them runs: the others
  // then do not train. Throws invalid_argument if tasks are left over.
  TaskConfig grouped(int tasks_per_replica) const;

  int num_replicas() const { return static_cast<int>(replicas.size()); }
  std::vector<std::string> replica_names() const;  // "/job:worker/task:0", in order
  bool is_chief() const { return replica == 0; }
  bool is_evaluator() const { return task.job == "evaluator"; }
  // The first replica. Throws invalid_argument if no task trains.
  const TaskName& chief() const;
};

// The mistakes in the role of a task among these jobs, one message each; none if it is right.
std::vector<std::string> role_mistakes(const ClusterSpec::Jobs& jobs, const TaskName& task);

}  // namespace actorflow
