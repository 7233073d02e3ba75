// fit() by several replicas: the program of each of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/models/fit/fit_callbacks.h"
#include "actors/models/fit/fit_data.h"
#include "actors/models/logs/epoch_sums.h"
#include "actors/models/logs/progress_line.h"
#include "actors/models/logs/totals.h"
#include "actors/models/model_engine.h"
#include "actors/strategies/elastic_task.h"
#include "actors/strategies/replica_run.h"
#include "actors/strategies/sizes_of_replicas.h"
#include "dataflow/cluster/task_config.h"

namespace actorflow {

// The state of fit() that a task of an elastic job keeps from one world to the next.
struct ElasticFit {
  ElasticTask& task;
  History history{};       // as far as this task was the chief
  bool has_begun = false;  // callbacks know of it
  std::optional<std::int64_t> steps{};
  bool has_weights = false;  // of the last world
};

// What the chief knows of the present epoch. Its number, and that of its batches that are trained, are
// the model's (FitProgress).
struct EpochProgress {
  // Of the epoch that began last; none if no epoch has begun in this process.
  std::optional<ProgressLine> line{};
  // The next step begins an epoch: before it callbacks hear so. Not earlier: a checkpoint of the end of
  // an epoch may not have what they change then, as they do so again when training goes on from it.
  bool begins = false;
  std::optional<double> rate_before{};  // the learning rate when it began, if callbacks can set it

  // What the chief measured in its last step: the loss, then the metrics. Empty before its first step.
  std::vector<Tensor> last_values{};
  bool sum_is_finite = true;     // the losses of all replicas, as far as callbacks know
  std::optional<Tensor> sums{};  // taken at its end, which the loss of a task has interrupted

  std::optional<int> told{};  // the last epoch of whose end callbacks have heard; none: not known
  int began_within = 0;       // the epoch in whose middle training began, from a backup; 0: none
  FitContext::Sums resumed{};  // of its batches before
};

// Trains in synchronous steps, of which each takes a batch that the replicas divide, or in asynchronous
// ones, of which each takes one batch of one replica. The chief calls the callbacks.
class ClusterFit final : public ReplicaProgram {
 public:
  // Without a pipeline each replica is one task. REQUIRES: all outlive this. Throws invalid_argument for
  // a batch that the replicas cannot divide, and for a pipeline that makes no sense.
  ClusterFit(Model& model, ModelEngine& engine, Server& server, const TrainingData& data,
             const FitOptions& options, ReplicaOptions replica_options,
             const PipelineOptions* pipeline = nullptr, ElasticFit* elastic = nullptr);

  // Runs the replica until training, or the world of an elastic job, ends. `history` is then the
  // chief's.
  ReplicaEnd run();
  History& history() { return history_; }
  // The model's steps by now; none of a chief that was stopped before it had them.
  const std::optional<std::int64_t>& steps() const { return steps_; }
  // Whether the model has what the cluster has trained, or, of a chief that was stopped before, its own.
  bool has_weights() const { return has_weights_ || task_.is_chief(); }

  ReplicaNodes build(Graph& graph, const Replication& replication) override;
  ReplicaSettings settings() const override;
  void count_from(std::int64_t first_step) override { first_step_ = first_step; }
  void prepare(MonitoredOptions& options) override;
  void begin(Session& session, std::int64_t global_step) override;
  bool before_step(Session& session) override;
  Feeds next() override;
  bool after_step(Session& session, std::int64_t global_step, std::span<const Tensor> values) override;
  bool ends_round(std::int64_t step) const override {
    return (step - first_step_.value_or(0)) % steps_per_epoch_ == 0;
  }
  void on_last_step(Session& session) override;
  bool before_last_save(Session& session) override;
  void finish(Session& session) override { adopt(session); }
  void on_interrupt(Session& session) override;

 private:
  bool is_sync() const { return is_synchronous(replica_options_.strategy); }
  std::int64_t first_place() const {
    return (training_.first().epoch - 1) * steps_per_epoch_ + training_.first().batches;
  }
  int epoch_of(std::int64_t place) const { return static_cast<int>(place / steps_per_epoch_) + 1; }
  bool is_over(int epoch, std::int64_t place) const;
  bool is_stopped() const { return may_end_ && training_.stopped(); }

  // The model, in sessions and when they have ended: cluster_fit.cpp.
  void choose_stages();
  std::vector<ModelStage> stages() const;
  void initialise(Session& session);
  void use(Session& session);
  void hand_out_changes(std::int64_t place);
  void adopt(Session& session);
  void adopt_saved();
  std::optional<TrainedState> state_at_end();

  // What a step is fed: cluster_batches.cpp.
  std::vector<Tuple> next_parts(int epoch, std::int64_t batch);
  float share_of(std::int64_t batch, std::int64_t own) const;
  Feeds feeds_of(std::vector<Tuple> parts, std::int64_t examples, float share, int epoch) const;
  void feed_whole(std::vector<Tuple> parts, float share, Feeds& feeds) const;
  void feed_parts(std::vector<Tuple> parts, float share, Feeds& feeds) const;
  Error blamed(const Error& error) const;

  // Epochs and callbacks, at the chief: cluster_epochs.cpp.
  void begin_callbacks();
  ExtraState state_of_callbacks() const;
  bool restore_callbacks();
  void begin_epoch();
  void begin_epoch_again();
  std::optional<double> own_rate();
  void tell_callbacks(std::span<const Tensor> own, const Tensor& of_all);
  std::optional<double> new_not_finite(const Tensor& own_loss, const Tensor& sums);
  void end_epoch();
  void end_missed_epoch(bool restored);
  void end_part_of_epoch();
  void tell_epoch(int epoch, Logs logs);
  double expected_examples(int epoch) const;
  Tensor take_sums(int epoch);
  FitContext::Sums sums_so_far() const;
  Totals totals_of(const Tensor& sums, int epoch) const;

  ModelEngine& engine_;
  Server& server_;
  ElasticFit* elastic_;  // null: the tasks are the same to the end
  const TrainingData& source_;
  const FitOptions& options_;
  ReplicaOptions replica_options_;
  std::optional<PipelineOptions> pipeline_;
  std::optional<MicroBatchOptions> micro_batches_;
  TaskConfig task_;
  // A batch of one example of the data, for steps of which the replica has none. Not zeros: the network
  // may make no number of them, which a gradient times 0 would keep.
  Tuple example_;
  ModelEngine::ExampleTypes types_;
  FitData data_;
  std::optional<SizesOfReplicas> own_data_;  // AutoShardPolicy::off
  std::string ends_of_data_;                 // for people: see describe_examples()
  std::int64_t steps_per_epoch_;

  std::optional<ModelGraph> nodes_;  // of a graph that is gone when the replica has ended
  StepNodes step_nodes_;
  std::vector<std::string> variable_names_;
  std::optional<ModelSession> in_session_;
  std::optional<EpochSums> epoch_sums_;
  Output steps_fed_, first_step_fed_;  // for global_step and first_step, which `begin_at_` sets
  std::vector<Output> begin_at_;
  std::int64_t model_steps_ = 0;  // when this fit() began
  // Places are counted in steps from the first batch of the first epoch; see ModelGraph::first_step.
  std::optional<std::int64_t> first_step_;  // known when there is a session
  std::int64_t next_place_ = 0;  // synchronous: of the next batch; asynchronous: the batch's number
  std::int64_t place_ = 0;       // after the global step that the replica has heard of last
  std::optional<std::int64_t> steps_;
  bool has_weights_ = false;
  std::int64_t next_batch_ = -1;  // of its epoch, that the iterator gives next; -1: begin anew

  // At the chief.
  History history_;
  FitContext training_;
  FitCallbacks callbacks_;
  bool callbacks_are_new_ = false;  // no epoch has begun since they were told that training begins
  std::optional<ExtraState> restored_;  // of the checkpoint that the next session begins with
  EpochProgress epoch_;
  bool may_end_ = false;      // a step was made: variables that other tasks initialise have values
  bool initialised_ = false;  // since begin() was called last
  bool weights_set_ = false;  // by callbacks, since the last step
};

}  // namespace actorflow
