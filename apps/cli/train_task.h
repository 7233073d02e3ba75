// One task of a training cluster: a parameter server, a worker, or an evaluator.
#pragma once

#include "apps/cli/cluster_flags.h"
#include "apps/cli/server_flags.h"
#include "apps/cli/train_flags.h"

namespace actorflow {

struct TrainTaskFlags {
  ClusterFlags cluster{};
  ServerFlags server{};
  TrainFlags train{};

  void add_to(Command& command);
};

// Runs the task until training is complete. Returns the exit status of its program. Throws UsageError,
// and what training throws.
int run_train_task(const TrainTaskFlags& flags);

}  // namespace actorflow
