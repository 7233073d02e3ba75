// Between-graph replication: the program that every replica of a parameter-server cluster runs.
//
// Each replica builds the same graph, with the variables on the tasks of job "ps" in turn, and trains it
// on its share of the batches, through its own server, until the global step is reached. The chief also
// restores or initialises the variables, saves, tests and ends the job. Any task may be lost and
// restarted: training goes on from the newest checkpoint (after the loss of a worker: from where it
// was).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/monitored/step_timer.h"
#include "actors/task/server.h"
#include "apps/training/mnist.h"
#include "apps/training/progress.h"
#include "apps/training/report.h"
#include "dataflow/train/optimizer_choice.h"
#include "dataflow/train/replicate.h"
#include "dataflow/train/strategy.h"

namespace actorflow {

// The options, the same for every replica.
struct TrainOptions {
  std::vector<std::int64_t> hidden{256};  // sizes of the hidden layers
  OptimizerChoice optimizer = Adam{};
  std::int64_t batch_size = 64;        // examples of one replica's step
  std::int64_t train_steps = 0;        // the global step at which training ends
  Strategy strategy = Asynchronous{};  // of Synchronous, the initial tokens follow from the replicas
  Precision precision = Precision::float32;  // of the products
  NotFinite not_finite = NotFinite::fail;
  int max_rollbacks = 0;  // for values that are not finite, before training fails

  std::string ps_strategy = "round_robin";  // see make_ps_strategy()
  std::uint64_t seed = 1;
  std::string checkpoint_folder;  // "" = none
  bool strict_restore = false;    // see MonitoredOptions
  Every save_checkpoint{0, 600};  // and at the end
  std::string summary_folder;     // of event files, those of the evaluator in eval/; "" = none
  Every save_summaries{.steps = 100};
  // Marks the end of training in the checkpoint folder, for tasks that may be restarted after it.
  bool mark_end = false;
  std::int64_t connect_timeout_ms = 60'000;
};

// Global steps in `epochs` passes over `examples`: a synchronous step takes a batch of every worker, an
// asynchronous one a batch of one worker.
std::int64_t steps_for_epochs(double epochs, std::int64_t examples, const TrainOptions& options,
                              int workers);

// Runs the replica of `server`. Returns the report at the chief, and nothing at other replicas, if
// training was complete before it began, or if `interrupted` became true; then the chief saves and ends
// the job. `progress` may be null. Throws Error with the root cause if training fails. A chief that
// fails for another reason than the loss of a task ends the job, and every other task fails for the same
// reason.
std::optional<TrainReport> train_replica(Server& server, const Mnist& data, const TrainOptions& options,
                                         const std::atomic<bool>& interrupted, Progress* progress);

// Runs a parameter server until the job is over, or if it was completed while this task was away.
// Returns the reason. Throws the error of the job if the chief reports one.
std::string serve_parameters(Server& server, const TrainOptions& options);

}  // namespace actorflow
