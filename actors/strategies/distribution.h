// Where and how a model is trained: one object, chosen where fit() is called.
//
//   model.fit(data, {.epochs = 3, .strategy = ParameterServer{server, {.strategy = Synchronous{}}}});
#pragma once

#include <functional>
#include <utility>
#include <variant>

#include "actors/strategies/replica_run.h"
#include "actors/task/server.h"

namespace actorflow {

// In this process.
struct OneDevice {};

// Synchronously by that many replicas in this process, each with its part of every batch. The functions
// of the dataset are called by several threads.
struct Mirrored {
  int replicas = 2;
};

// By the tasks of a cluster: the jobs "chief" and "worker" train, "ps" holds the variables. Every task
// is the same program, which calls fit() with its own server; REQUIRES: the server outlives the call.
// fit() sets `train_steps` and `ps_job` of the options.
struct ParameterServer {
  explicit ParameterServer(Server& task, ReplicaOptions options_ = {.strategy = Synchronous{}})
      : server(&task), options(std::move(options_)) {}

  Server* server;
  ReplicaOptions options;
};

// Synchronously by the workers of a cluster without parameter servers: each worker holds a part of the
// variables, with their slots, and updates it by the mean of all gradients.
struct MultiWorkerMirrored {
  explicit MultiWorkerMirrored(Server& task, ReplicaOptions options_ = {})
      : server(&task), options(std::move(options_)) {
    options.strategy = Synchronous{};
  }

  Server* server;
  ReplicaOptions options;
};

using Distribution = std::variant<OneDevice, Mirrored, MultiWorkerMirrored, ParameterServer>;

// Calls `replica` for the tasks 0, 1, ... of a job of the cluster, each on a thread, and throws the
// first error of one of them, after which the others are stopped.
void run_on_threads(LocalCluster& cluster, int tasks, const std::function<void(int)>& replica);

}  // namespace actorflow
