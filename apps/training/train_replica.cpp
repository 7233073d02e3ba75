#include "apps/training/train_replica.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "actors/checkpoint/checkpoint.h"
#include "actors/client/dataset_iterator.h"
#include "actors/events/summaries.h"
#include "actors/input/rows.h"
#include "actors/models/classifiers.h"
#include "actors/models/data/batches.h"
#include "actors/models/network/graph_hash.h"
#include "actors/runtime/runtime.h"
#include "apps/training/reports/accuracy.h"
#include "apps/training/reports/gradient_counts.h"
#include "apps/training/reports/training_plots.h"
#include "dataflow/cluster/task_config.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/train/replicated_state.h"
#include "dataflow/train/whole_steps.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/ops/clipping.h"

namespace actorflow {
namespace {

class ClassifierProgram final : public ReplicaProgram {
 public:
  ClassifierProgram(Server& server, const LabelledData& data, const TrainOptions& options,
                    Progress* progress)
      : server_(server),
        data_(data),
        options_(options),
        progress_(progress),
        task_(TaskConfig::make(server.cluster(), server.name())) {}

  ReplicaNodes build(Graph& graph, const Replication& replication) override;
  ReplicaSettings settings() const override;
  void prepare(MonitoredOptions& options) override;
  void begin(Session& session, std::int64_t global_step) override;
  Feeds next() override;
  bool after_step(Session& session, std::int64_t global_step, std::span<const Tensor> values) override;
  void on_last_step(Session& session) override;
  void finish(Session& session) override;

  std::optional<TrainReport> report;

 private:
  TrainOp train(Graph& graph, Replication replication);
  void summarise();
  bool is_sync() const { return is_synchronous(options_.strategy); }
  bool has_summaries() const { return task_.is_chief() && !options_.summary_folder.empty(); }
  std::int64_t batches_per_step() const { return is_sync() ? task_.num_replicas() : 1; }
  std::int64_t examples_per_step() const {
    return options_.global_batch ? options_.global_batch : options_.batch_size * batches_per_step();
  }
  Dataset own_batches(std::int64_t step) const;

  Server& server_;
  const LabelledData& data_;
  const TrainOptions& options_;
  Progress* progress_;
  TaskConfig task_;

  Classifier model_;
  Output weight_;  // with a global batch: this replica's part of it, 1 where all have the same
  Variable global_step_;
  Output rate_;  // by the schedule, or empty
  TrainOp train_;
  Summaries summaries_;
  Output staleness_;  // float64 [3]: steps, mean, maximum
  std::optional<DatasetIterator> batches_;
  std::optional<Meter> meter_;
};

ReplicaNodes ClassifierProgram::build(Graph& graph, const Replication& replication) {
  global_step_ = global_step(graph);
  model_ = graph.precision(options_.precision, [&] {
    return make_classifier(graph, architecture_of(options_.model, data_.types, data_.sample),
                           data_.types.example,
                           {.seed = options_.seed,
                            .loss = options_.loss,
                            .label = data_.types.label,
                            .step = global_step_,
                            .replica = replication.replica});
  });
  train_ = train(graph, replication);
  staleness_ = graph.on(global_step_.device(), [&] {
    return graph.add(staleness_op(), {}, {{"variable", global_step_.name()}});
  });
  if (has_summaries()) summarise();
  ReplicaNodes nodes{.train = train_,
                     .loss = model_.train.loss,
                     .fetches = {model_.train.loss, model_.train.accuracy},
                     .targets = {}};
  // Averages are of the first replica's batches: an update by each would depend on their order.
  if (replication.replica == 0) nodes.targets = with_step(train_, model_.updates);
  return nodes;
}

TrainOp ClassifierProgram::train(Graph& graph, Replication replication) {
  Output loss = model_.train.loss;
  if (options_.global_batch) {
    weight_ = graph.placeholder(DType::float32, {}, "weight");
    loss = loss * weight_;
  }
  const auto gradients = compute_gradients(loss, model_.variables.trained());
  if (options_.clip_global_norm > 0)
    replication.transform = [bound = options_.clip_global_norm](auto of_step) {
      return clip_by_global_norm(std::move(of_step), bound);
    };
  // On the host, where the variables' owners want it, wherever the model computes.
  if (options_.learning_rate)
    rate_ = graph.on("/cpu:0", [&] { return options_.learning_rate(global_step_); });
  return apply_gradients(graph, gradients, global_step_, options_.optimizer, replication, rate_);
}

void ClassifierProgram::summarise() {
  summaries_.scalar("loss", model_.train.loss);
  summaries_.scalar("accuracy", model_.train.accuracy);
  for (const auto& variable : model_.variables.trained())
    summaries_.histogram(variable.name(), variable);
}

ReplicaSettings ClassifierProgram::settings() const {
  ReplicaSettings settings = settings_of_options(options_);
  settings.insert(
      settings.end(),
      {{"loss", fmt::format("{} #{:016x}", options_.loss.name,
                           graph_hash(model_.train.loss, {model_.train.logits}))},
      {"optimizer", describe_optimizers(options_.optimizer, model_.variables.trained())},
      {"learning rate schedule", rate_ ? fmt::format("#{:016x}", graph_hash(rate_)) : "none"},
      {"clip_global_norm", fmt::format("{}", options_.clip_global_norm)},
      {data_.noun, fmt::format("{} that are {}", data_.train_count, data_.types.example.to_string())},
      {"first and last of the " + data_.noun, data_.ends}});
  return settings;
}

void ClassifierProgram::prepare(MonitoredOptions& options) {
  options.summary_dir = options_.summary_folder;
  options.save_summaries = options_.save_summaries;
  if (has_summaries()) options.summaries = &summaries_;
}

// The replica's share of the batches, from the one on that is next after a start or a recovery.
void ClassifierProgram::begin(Session&, std::int64_t step) {
  if (!meter_)
    meter_.emplace(server_.runtime()->clock(), step, options_.train_steps, examples_per_step());
  batches_.emplace(server_, own_batches(step).prefetch(1));
}

// A global batch is the same examples for any number of replicas. Where these cannot have equal parts,
// each reads all of it.
Dataset ClassifierProgram::own_batches(std::int64_t step) const {
  const std::int64_t replicas = task_.num_replicas(), all = options_.global_batch;
  if (all > 0 && all < replicas)
    throw invalid_argument(
        fmt::format("a batch of {} {} cannot be divided among {} tasks; give a larger "
                    "--batch_size, or actorflow launch a smaller --max",
                    all, data_.noun, replicas));
  BatchesOfTraining how{
      .size = options_.batch_size, .seed = options_.seed, .augmentation = options_.augmentation};
  if (all % replicas != 0) {
    how.size = all;
    return data_.training_batches(how).skip(step).map(
        [replicas, replica = task_.replica](const Tuple& batch) {
          return rows_of_shard(batch, replicas, replica);
        });
  }
  if (all > 0) how.size = all / replicas;
  return data_.training_batches(how).skip(step * batches_per_step()).shard(replicas, task_.replica);
}

Feeds ClassifierProgram::next() {
  const Tuple batch = batches_->next();
  Feeds feeds{{model_.x, batch[0]}, {model_.labels, batch[1]}};
  if (weight_) {
    const auto rows = static_cast<float>(batch[0].shape()[0] * task_.num_replicas());
    feeds.emplace_back(weight_, Tensor::scalar(rows / static_cast<float>(options_.global_batch)));
  }
  return feeds;
}

bool ClassifierProgram::after_step(Session&, std::int64_t step, std::span<const Tensor> values) {
  meter_->record(step, values[0].scalar<float>(), values[1].scalar<float>());
  if (progress_) progress_->update(*meter_);
  return true;
}

void ClassifierProgram::on_last_step(Session&) {
  if (progress_ && meter_) progress_->finish(*meter_);
}

void ClassifierProgram::finish(Session& session) {
  std::map<std::string, Tensor> weights;
  const auto variables = model_.variables.all();
  const auto values = session.run({variables.begin(), variables.end()});
  for (std::size_t i = 0; i < values.size(); ++i) weights[variables[i].name()] = values[i];
  const Tensor staleness = session.run(staleness_);
  if (progress_) spdlog::info("measures the accuracy on the test {}", data_.noun);
  const bool with_plots = !options_.plots_folder.empty();
  Answers answers;
  const Score score = score_on(session, model_, data_.test_batches(),
                               with_plots ? kept_in(answers, data_) : SeesLogits{});
  report = {.test_accuracy = score.accuracy,
            .test_loss = score.loss,
            .loss = meter_->loss(),
            .global_step = session.run(global_step_).scalar<std::int64_t>(),
            .examples_per_second = meter_->examples_per_second(),
            .train_seconds = meter_->seconds(),
            .mode = is_sync() ? "sync" : "async",
            .staleness_mean = staleness.values<double>()[1],
            .staleness_max = staleness.values<double>()[2],
            .max_lead = train_.max_lead ? session.run(train_.max_lead).scalar<std::int64_t>() : 0,
            .dropped_gradients = dropped_gradients(session, train_, task_.num_replicas()),
            .uneven_updates = uneven_updates(session, train_),
            .weights_hash = hash_of(weights)};
  if (with_plots) save_training_plots(options_.plots_folder, meter_->curve(), data_, answers);
}

double examples_of_step(const TrainOptions& options, int workers) {
  return static_cast<double>(options.batch_size * (is_synchronous(options.strategy) ? workers : 1));
}

}  // namespace

ReplicaSettings settings_of_options(const TrainOptions& options) {
  return {{"model", describe(options.model)},
          {"batch_size",
           std::to_string(options.global_batch ? options.global_batch : options.batch_size)},
          {"precision", std::string(to_string(options.precision))},
          {"seed", std::to_string(options.seed)}};
}

std::int64_t steps_for_epochs(double epochs, std::int64_t examples, const TrainOptions& options,
                              int workers) {
  const double steps = epochs * static_cast<double>(examples) / examples_of_step(options, workers);
  return std::max<std::int64_t>(1, whole_steps(steps));
}

double epochs_of_steps(std::int64_t steps, std::int64_t examples, const TrainOptions& options,
                       int workers) {
  return static_cast<double>(steps) * examples_of_step(options, workers) / static_cast<double>(examples);
}

std::optional<TrainReport> train_replica(Server& server, const LabelledData& data,
                                         const TrainOptions& options,
                                         const std::atomic<bool>& interrupted, Progress* progress) {
  ClassifierProgram program(server, data, options, progress);
  run_replica(server, program, options, interrupted);
  return program.report;
}

std::optional<TrainReport> train_elastic(ElasticTask& task, const LabelledData& data,
                                         const TrainOptions& options,
                                         const std::atomic<bool>& interrupted, Progress* progress) {
  std::optional<TrainReport> report;
  const auto train = [&](Server& server) {
    ClassifierProgram program(server, data, options, progress);
    const ReplicaEnd end = run_replica(server, program, options, interrupted, &task);
    report = std::move(program.report);
    return end;
  };
  task.run(train, interrupted);
  return report;
}

}  // namespace actorflow
