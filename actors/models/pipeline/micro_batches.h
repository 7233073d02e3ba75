// Training by micro-batches: the passes of each through each stage of a network, in the order of a
// schedule, as nodes of one graph.
//
// A control edge leads from the end of a pass to the beginning of the next one of its stage; so the
// order is a part of the graph, and activations that a later pass needs are all that a stage holds.
// Tensors cross from stage to stage as edges, which the partitioner turns into Send and Recv. The
// gradients of a stage's variables are added up on the stage, micro-batch by micro-batch, in their
// order: the sums are the same bits for every number of stages and for every schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/models/network/measured.h"
#include "actors/models/pipeline/stages.h"
#include "dataflow/train/pipeline_schedule.h"
#include "dataflow/train/replicate.h"

namespace actorflow {

// How a step divides its batch.
struct MicroBatchOptions {
  int count = 1;
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;

  bool operator==(const MicroBatchOptions&) const = default;
};

// The placeholders of one micro-batch. One without examples is fed a single one, of weight 0.
struct MicroBatchFeeds {
  std::vector<Output> inputs;
  LabelFeeds labels;
  Output examples;  // float64 scalar: those that it has
};

// What all micro-batches have in common. REQUIRES: all outlive its use.
struct MicroBatchModel {
  Graph& graph;
  const Architecture& architecture;
  const std::vector<ModelStage>& stages;
  const ModelVariables& variables;           // in the order of the stages
  std::vector<std::size_t> variables_until;  // the number of them at the end of each stage
  const CompileOptions& options;
  std::uint64_t seed;   // of dropout
  Output step;          // int64 scalar: the number of the step
  bool keeps_averages;  // of layers; false: another replica does
  Output has_data;      // see ReplicaFeeds
};

// Adds the passes of a step. For one use.
class MicroBatches {
 public:
  // `feeds` are those of each micro-batch. Throws invalid_argument for a layer whose averages cannot be
  // kept micro-batch by micro-batch, and if the loss depends on no variable.
  MicroBatches(MicroBatchModel model, PipelineSchedule schedule, std::vector<MicroBatchFeeds> feeds);
  ~MicroBatches();

  // The measurements of the whole batch.
  const Measured& measured() const { return measured_; }
  // The gradients of the whole batch, for the variables that the loss depends on.
  const std::vector<GradientAndVariable>& gradients() const { return gradients_; }
  // Targets of each step: averages, each micro-batch's after that of the one before it.
  const std::vector<Output>& updates() const { return updates_; }

 private:
  struct MicroBatch;
  struct StageWork;
  struct Arrivals;

  void forward(int stage, MicroBatch& micro_batch);
  void backward(int stage, MicroBatch& micro_batch);
  void measure(MicroBatch& micro_batch);
  void take_updates(MicroBatch& micro_batch, std::vector<Output>& ends);
  std::vector<Output> sources_of(int stage, MicroBatch& micro_batch);
  Arrivals arrivals_at(int stage, MicroBatch& micro_batch);
  void add_up(StageWork& work, std::size_t variable, Output gradient, std::vector<Output>& ends);
  void add_penalties();
  void add_measured();
  // Adds what `body` adds as the stage's next pass, which ends when the outputs do that it returns.
  template <class Body>
  void in_order(int stage, const std::string& name, Body&& body);
  Output step_of(const MicroBatch& micro_batch) const;
  bool learns(Output tensor);

  MicroBatchModel model_;
  std::vector<std::unique_ptr<MicroBatch>> micro_batches_;
  std::vector<StageWork> stages_;
  std::vector<bool> learns_;  // by node: whether it depends on a variable that is trained
  Measured measured_;
  std::vector<GradientAndVariable> gradients_;
  std::vector<Output> updates_;
};

}  // namespace actorflow
