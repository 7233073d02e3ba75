// The training of a classifier as the program of every replica
// (actors/strategies/replica_run.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "actors/monitored/step_timer.h"
#include "actors/strategies/elastic_task.h"
#include "actors/strategies/replica_run.h"
#include "actors/task/server.h"
#include "apps/training/data/labelled_data.h"
#include "apps/training/models/model_choice.h"
#include "apps/training/reports/progress.h"
#include "apps/training/reports/report.h"
#include "dataflow/train/optimizer_choice.h"
#include "dataflow/train/replicate.h"
#include "dataflow/train/strategy.h"

namespace actorflow {

// The options, the same for every replica.
struct TrainOptions : ReplicaOptions {
  ModelChoice model{};
  OptimizerChoice optimizer = Adam{};
  LearningRateSchedule learning_rate{};  // none: the optimizer's
  double clip_global_norm = 0;           // of the gradients, or their mean with all-reduce; 0 = not
  Loss loss = softmax_cross_entropy();   // of training
  ImageAugmentation augmentation{};      // of training
  std::int64_t batch_size = 64;          // examples of one replica's step
  // Examples of a step of all replicas together, whose number may change; 0: as many as they have then.
  std::int64_t global_batch = 0;
  Precision precision = Precision::float32;  // of the products
  std::uint64_t seed = 1;
  std::string summary_folder;  // of event files, those of the evaluator in eval/; "" = none
  Every save_summaries{.steps = 100};
  std::string plots_folder;  // for pictures of the run (training_plots.h); "" = none
};

// What the options say of the settings that all tasks share, without the model's graph and the data.
ReplicaSettings settings_of_options(const TrainOptions& options);

// Global steps in `epochs` passes over `examples`: a synchronous step takes a batch of every worker, an
// asynchronous one a batch of one worker.
std::int64_t steps_for_epochs(double epochs, std::int64_t examples, const TrainOptions& options,
                              int workers);
// Passes over `examples` in that many global steps.
double epochs_of_steps(std::int64_t steps, std::int64_t examples, const TrainOptions& options,
                       int workers);

// run_replica() with this program. Returns the report at the chief, and nothing at other replicas, if
// training was complete before it began, or if `interrupted` became true. `progress` may be null.
std::optional<TrainReport> train_replica(Server& server, const LabelledData& data,
                                         const TrainOptions& options,
                                         const std::atomic<bool>& interrupted, Progress* progress);

// The same by a task of an elastic job, with `global_batch` of the options. Returns the report at the
// chief of the last world.
std::optional<TrainReport> train_elastic(ElasticTask& task, const LabelledData& data,
                                         const TrainOptions& options,
                                         const std::atomic<bool>& interrupted, Progress* progress);

}  // namespace actorflow
