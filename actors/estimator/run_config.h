// Where an estimator runs, and what it keeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/strategies/distribution.h"
#include "actors/task/server.h"

namespace actorflow {

struct RunConfig {
  // The folder of checkpoints and event files, which all tasks of a cluster see. Training goes on from
  // the newest checkpoint in it that is whole.
  std::string model_dir;
  // Of a ParameterServer or MultiWorkerMirrored the estimator sets what concerns steps and checkpoints.
  Distribution strategy = OneDevice{};
  // This process is the evaluator beside a cluster: train_and_evaluate() only evaluates. It needs no
  // strategy; one with a server lends it the threads, clock and disk of that, as in a simulation.
  bool is_evaluator = false;

  // One of the two at most; neither: every 600 s. Training saves when it begins and ends, too.
  std::optional<std::int64_t> save_checkpoints_steps{};
  std::optional<double> save_checkpoints_secs{};
  int keep_checkpoint_max = 5;              // the newest ones; 0 = all
  std::int64_t save_summary_steps = 100;    // 0 = none
  std::int64_t log_step_count_steps = 100;  // 0 = no log lines
  std::uint64_t tf_random_seed = 1;         // of weights, dropout and the order of examples

  // When this becomes true, training saves and ends after the step that runs, and an evaluator's wait
  // ends: a flag that the program's handler of SIGTERM sets. REQUIRES: it outlives the estimator.
  const std::atomic<bool>* interrupted = nullptr;
};

// The configuration with the part that the environment gives this process, as
// distribution_from_environment() reads it: chief, worker, parameter server or evaluator; as it is where
// that names no task. `server` says what it does not: credentials, threads, timeouts; `replica` how
// replicas train together. Throws invalid_argument that lists what is wrong with TF_CONFIG,
// failed_precondition or permission_denied for a model_dir in which nothing can be saved, and what
// Server throws.
RunConfig run_config_from_environment(RunConfig config, ServerOptions server = {},
                                      ReplicaOptions replica = {.strategy = Synchronous{}});

// The task's server, if the strategy has one; else null. For a program that ends it when a signal comes:
// server->stop("interrupted").
std::shared_ptr<Server> server_of(const Distribution& strategy);

}  // namespace actorflow
