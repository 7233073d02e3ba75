// The training of an estimator: in this process, and by the tasks of a cluster. For this folder only.
#pragma once

#include <cstdint>
#include <functional>

#include "actors/estimator/estimator.h"
#include "actors/estimator/estimator_model.h"

namespace actorflow {

// The arguments of one train(). REQUIRES for all that take it: what it refers to outlives the call.
struct TrainCall {
  const EstimatorModel& model;
  const NamedExamples& input;
  const RunConfig& config;
  const EstimatorTrainOptions& options;
};

// Called between steps when a checkpoint was saved; may be empty.
using Saved = std::function<void()>;

// Trains in this process.
void train_here(const TrainCall& training, const Saved& saved);
// Trains as a task of a cluster, or by several replicas in this process.
void train_on(const TrainCall& training, const ParameterServer& strategy, const Saved& saved);
void train_on(const TrainCall& training, const MultiWorkerMirrored& strategy, const Saved& saved);
void train_on(const TrainCall& training, const ElasticMirrored& strategy, const Saved& saved);
void train_on(const TrainCall& training, const Mirrored& strategy, const Saved& saved);
void train_on(const TrainCall& training, const Pipeline& strategy, const Saved& saved);

// Estimator::train(). Throws invalid_argument for options that make no sense together.
void train(const Estimator& estimator, const InputFn& input_fn, const EstimatorTrainOptions& options,
           const Saved& saved);

}  // namespace actorflow
