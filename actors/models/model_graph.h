// The nodes of a model in a graph: for predicting, testing and training.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/models/model.h"
#include "actors/models/network/measured.h"
#include "actors/models/pipeline/micro_batches.h"
#include "actors/models/pipeline/stages.h"
#include "dataflow/train/replicate.h"

namespace actorflow {

// What a replica that trains with others feeds besides its part of a batch.
struct ReplicaFeeds {
  Output weights;   // float32 [n]: of its examples; 0 where it has none. Not with micro-batches
  // float32 scalar: the examples of the whole batch, divided by the replicas; with data of their own the
  // replica's examples of the step.
  Output share;
  Output examples;  // float64 scalar: those that it has
  Output row;       // float64 [2]: 1 in the row of epoch_sums of this epoch, else 0
  // bool scalar, of replicas with data of their own, else empty: false when these have ended.
  Output has_data;
};

// A batch of one example.
Tuple batch_of_one(Tuple example);

// What a step of training is made of.
struct TrainingForm {
  std::optional<MicroBatchOptions> micro_batches{};  // none: the batch as a whole, in one stage
  bool weighted = false;  // examples have a weight, whatever CompileOptions say
  bool own_data = false;  // AutoShardPolicy::off. REQUIRES: a replication
};

// The nodes of a step of training.
struct StepNodes {
  Measured measured;
  TrainOp op;
  std::vector<Output> updates;                 // targets of each step
  Output weights;                              // of examples, or empty
  std::vector<MicroBatchFeeds> micro_batches;  // or none
  Output share;                                // float32 scalar, for micro-batches: see LabelFeeds
};

// Built in three steps: the labels' types are known later than the inputs', and a model that is only
// tested need not be one that can be trained. Not thread-safe. REQUIRES: the graph outlives this.
class ModelGraph {
 public:
  // `inputs` are the types of one example. Without options the model can only predict. `learning_rate`
  // replaces the optimizer's at first; throws what expect_one_rate() throws. Without stages the network
  // is one, in any place.
  ModelGraph(Graph& graph, const Architecture& architecture, std::vector<TensorType> inputs,
             const CompileOptions* options, std::optional<double> learning_rate = {},
             std::vector<ModelStage> stages = {});
  // Adds what testing needs. `labels` are the types of one example. REQUIRES: called once.
  void add_testing(const CompileOptions& options, std::vector<TensorType> labels);
  bool can_test() const { return !labels.empty(); }
  // Adds a step of training. REQUIRES: can_test(), with the same options; with a replication called
  // once. Without one the graph's only user trains.
  StepNodes add_training(const CompileOptions& options,
                         const std::optional<Replication>& replication = {},
                         const TrainingForm& form = {});

  Graph& graph;
  ModelVariables variables;
  Variable global_step;
  // float64 scalar, which callbacks may change; and how far fit() is: int64 [2], see FitProgress.
  Variable learning_rate, progress;
  std::vector<LayerRecord> layers;

  // Placeholders of batches, and their types as those of one example.
  std::vector<Output> inputs, labels;
  std::vector<TensorType> input_types, label_types;
  Output sample_weights;  // or empty

  std::vector<Output> predictions;
  Measured test;
  // The learning rate of the next step, by the schedule or the variable. Empty if the optimizer has
  // different rates for different variables.
  Output rate;
  double optimizer_rate = 0;  // that of the optimizer; 0 for different ones
  // False if the optimizer has different rates: then `learning_rate` changes nothing.
  bool has_one_rate() const { return differing_rates_.empty(); }
  // Throws failed_precondition, with two variables and their rates, unless has_one_rate().
  void expect_one_rate() const;
  // For replicas that train together: float64 [2, k], sums over odd and over even epochs. Of the k
  // columns the first is the number of examples; the others are the loss and each metric, weighted by
  // examples.
  Variable epoch_sums;
  // int64 scalar, for such replicas, too: the global step at which the first epoch began or would have
  // begun, from which batches and epochs are counted. Below 0 if the model has made fewer steps.
  Variable first_step;
  ReplicaFeeds replica;
  // With all-reduce: of the present step what all replicas have measured, a row of epoch_sums. Else
  // empty.
  const Output& reduced_row() const { return reduced_row_; }

  // All placeholders that testing, or a step of training, feeds, in the order of a batch.
  std::vector<Output> test_feeds() const { return batch_feeds(sample_weights); }
  std::vector<Output> train_feeds(const StepNodes& step) const { return batch_feeds(step.weights); }
  // The placeholders of training by micro-batches, and their values for a batch that is divided into
  // `parts`, at most one for each micro-batch. `share` is the number of examples by which losses are
  // divided; `example`, a batch of one, stands for a batch without parts.
  static std::vector<Output> micro_batch_feeds(const StepNodes& step);
  Tuple micro_batch_values(const StepNodes& step, std::vector<Tuple> parts, float share,
                           const Tuple& example = {}) const;
  // All variables, and what is saved with them.
  std::vector<Variable> saved_variables() const;

 private:
  void add_predictions();
  std::vector<Output> build(ModelPass& pass);
  Measured measure(const CompileOptions& options, const std::vector<Output>& losses,
                   const std::vector<Output>& predicted, const LabelFeeds& feeds);
  LabelFeeds add_label_feeds(bool weighted);
  std::vector<Output> batch_feeds(const Output& weights) const;
  std::vector<GradientAndVariable> train_whole(StepNodes& step, const CompileOptions& options,
                                               int number);
  std::vector<GradientAndVariable> train_parts(StepNodes& step, const CompileOptions& options,
                                               int number, const MicroBatchOptions& how);
  MicroBatchFeeds add_micro_batch(const StepNodes& step);
  void add_replica_feeds(const TrainingForm& form);
  void keep_updates(StepNodes& step, const ModelPass& pass);
  Output measured_row(const Measured& measured, const CompileOptions& options) const;
  void exchange(StepNodes& step, const CompileOptions& options, const Replication& replication);
  void add_epoch_sums(StepNodes& step, const CompileOptions& options);

  const Architecture& architecture_;
  std::vector<ModelStage> stages_;
  std::vector<std::size_t> variables_until_;  // the number of them at the end of each stage
  std::uint64_t seed_;
  std::string differing_rates_;  // two variables with theirs, or empty
  std::vector<Output> losses_;  // that layers have added, when not training
  std::vector<Output> masks_;   // of the predictions
  // With all-reduce, of the present step: what all replicas have measured, and the first one's rate.
  Output reduced_row_, reduced_rate_;
};

}  // namespace actorflow
