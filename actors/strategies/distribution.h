// Where and how a model is trained: one object, chosen where fit() is called.
//
//   model.fit(data, {.epochs = 3, .strategy = ParameterServer{server, {.strategy = Synchronous{}}}});
#pragma once

#include <functional>
#include <memory>
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
// is the same program, which calls fit() with its own server. fit() sets `train_steps` and `ps_job` of
// the options.
struct ParameterServer {
  // REQUIRES: the server outlives the strategy's use.
  explicit ParameterServer(Server& task, ReplicaOptions options_ = {.strategy = Synchronous{}})
      : ParameterServer(std::shared_ptr<Server>(std::shared_ptr<void>{}, &task), std::move(options_)) {}
  explicit ParameterServer(std::shared_ptr<Server> task,
                           ReplicaOptions options_ = {.strategy = Synchronous{}})
      : server(std::move(task)), options(std::move(options_)) {}

  std::shared_ptr<Server> server;
  ReplicaOptions options;
};

// Synchronously by the workers of a cluster without parameter servers: each worker holds a part of the
// variables, with their slots, and updates it by the mean of all gradients.
struct MultiWorkerMirrored {
  // REQUIRES: the server outlives the strategy's use.
  explicit MultiWorkerMirrored(Server& task, ReplicaOptions options_ = {})
      : MultiWorkerMirrored(std::shared_ptr<Server>(std::shared_ptr<void>{}, &task),
                            std::move(options_)) {}
  explicit MultiWorkerMirrored(std::shared_ptr<Server> task, ReplicaOptions options_ = {})
      : server(std::move(task)), options(std::move(options_)) {
    options.strategy = Synchronous{};
  }

  std::shared_ptr<Server> server;
  ReplicaOptions options;
};

using Distribution = std::variant<OneDevice, Mirrored, MultiWorkerMirrored, ParameterServer>;

// The strategy of this process by the environment variable TF_CONFIG, as distributed TensorFlow reads
// it: parameter servers, or workers that hold the variables where the cluster has no "ps"; one device if
// it is not set. `server` gives what TF_CONFIG does not: credentials, threads, timeouts. Throws
// invalid_argument that lists what is wrong with TF_CONFIG, and what Server throws.
Distribution distribution_from_environment(const ReplicaOptions& options = {.strategy = Synchronous{}},
                                           ServerOptions server = {});

// False at tasks other than the chief, whose model has no trained weights after fit().
bool is_chief(const Distribution& strategy);

// Calls `replica` for the tasks 0, 1, ... of a job of the cluster, each on a thread, and throws the
// first error of one of them, after which the others are stopped.
void run_on_threads(LocalCluster& cluster, int tasks, const std::function<void(int)>& replica);

}  // namespace actorflow
