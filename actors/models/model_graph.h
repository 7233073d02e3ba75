// The graph of a model: one for predicting, testing and training.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "actors/models/model.h"

namespace actorflow {

// What is measured of a batch, all float32 or float64.
struct Measured {
  Output loss;  // scalar: the mean over the batch, with all penalties
  std::vector<Output> metrics;
};

// Built in three steps: the labels' types are known later than the inputs', and a model that is only
// tested need not be one that can be trained. Not thread-safe.
class ModelGraph {
 public:
  // `inputs` are the types of one example.
  ModelGraph(const Network& network, std::vector<TensorType> inputs, std::uint64_t seed);
  // Adds what testing needs. `labels` are the types of one example. REQUIRES: called once.
  void add_testing(const CompileOptions& options, std::vector<TensorType> labels);
  bool can_test() const { return !labels.empty(); }
  // Adds what training needs. REQUIRES: can_test(), with the same options; called once.
  void add_training(const CompileOptions& options);
  bool can_train() const { return static_cast<bool>(train_op.step); }

  Graph graph;
  ModelVariables variables;
  Variable global_step;
  // How far fit() was when a checkpoint was saved: int64 [2], see FitProgress, and the learning rate.
  Variable progress, saved_rate;
  std::vector<LayerRecord> layers;

  // Placeholders of batches, and their types as those of one example.
  std::vector<Output> inputs, labels;
  std::vector<TensorType> input_types, label_types;
  Output sample_weights;     // or empty
  Output learning_rate;      // float64 scalar
  bool rate_is_fed = false;  // learning_rate is a placeholder

  std::vector<Output> predictions;
  Measured test, train;
  TrainOp train_op;
  std::vector<Output> updates;  // targets of each training step

  // All placeholders that a step feeds, in the order of a batch; training also feeds the rate, if it is
  // fed, as the last.
  std::vector<Output> batch_feeds() const;
  // All variables, the global step and the progress.
  std::vector<Variable> saved_variables() const;

 private:
  std::vector<Output> build(ModelPass& pass);
  Measured measure(const CompileOptions& options, const std::vector<Output>& losses,
                   const std::vector<Output>& predicted);

  const Network& network_;
  std::uint64_t seed_;
  std::vector<Output> losses_;  // that layers have added, when not training
};

}  // namespace actorflow
