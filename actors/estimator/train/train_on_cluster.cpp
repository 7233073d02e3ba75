// Training by the tasks of a cluster: fit() under the strategy, which restores and saves. The batch of
// step n is number n of the input, whoever was lost meanwhile.
#include <fmt/format.h>

#include <algorithm>

#include "actors/estimator/model_dir.h"
#include "actors/estimator/train/step_report.h"
#include "actors/estimator/train/training.h"
#include "actors/models/data/batches.h"
#include "actors/models/fit/pipeline_plan.h"
#include "actors/models/fit/run_fit.h"
#include "actors/monitored/storage_error.h"
#include "actors/monitored/training_end.h"
#include "actors/runtime/runtime.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// At the chief. Batches are numbered by the step: there is only one epoch.
class ClusterRun final : public Callback {
 public:
  // `number`: see FitContext.
  ClusterRun(const RunConfig& config, Clock& clock, Saved saved, std::int64_t number)
      : config_(config), clock_(clock), saved_(std::move(saved)), number_(number) {}

  bool looks_at_batches() const override { return true; }
  void on_train_begin(FitContext& context) override {
    context.set_logs_by_step();
    context.set_number(number_);
    report_.emplace(config_, context.storage(), clock_);
  }
  void on_batch_end(FitContext& context, std::int64_t step, const Logs& logs) override {
    report_->after(step, logs.at("loss"));
    if (!saved_) return;
    std::optional<std::int64_t> newest;
    storage_allows("look for a new checkpoint in " + config_.model_dir,
                   [&] { newest = latest_step(context.storage(), config_.model_dir); });
    if (newest && newest != std::exchange(newest_, newest)) saved_();
  }
  void on_train_end(FitContext& context) override { complete_ = !context.interrupted(); }

  // Whether training came to its end: not interrupted, and not complete before.
  bool complete() const { return complete_; }

 private:
  const RunConfig& config_;
  Clock& clock_;
  Saved saved_;
  std::int64_t number_;
  std::optional<std::int64_t> newest_;
  std::optional<StepReport> report_;
  bool complete_ = false;
};

// The steps in which an input that ends is read.
std::int64_t steps_of(const TrainCall& training, const Server& server) {
  FitBatches batches(server, training.model.for_training(training.input),
                     {.batch_size = training.input.batch_size, .may_be_few = true});
  return batches.count_steps();
}

FitOptions fit_options_of(const TrainCall& training, const Server& server) {
  const auto& max_steps = training.options.max_steps;
  FitOptions options{
      .batch_size = training.input.batch_size, .shuffle = false, .may_be_short_of_a_batch = true};
  options.callbacks = training.options.callbacks;
  options.verbosity = Verbosity::silent;
  options.interrupted = training.config.interrupted;
  if (training.input.num_epochs == 0 || (max_steps && *max_steps < steps_of(training, server)))
    options.steps_per_epoch = max_steps.value();
  return options;
}

// `goal`: the step of which the mark of the end speaks, also if the input or a callback ended training
// before: an evaluator knows only max_steps.
ReplicaOptions replica_options_of(const TrainCall& training, ReplicaOptions options, std::int64_t goal) {
  options.checkpoint_folder = training.config.model_dir;
  options.save_checkpoint = save_interval_of(training.config);
  options.max_to_keep = training.config.keep_checkpoint_max;
  options.train_steps = goal;
  return options;
}

// The input for training that begins anew with it, though `done` steps were trained before: these take
// batches that nobody reads.
NamedExamples begun_anew(const TrainCall& training, std::int64_t done) {
  NamedExamples input = training.input;
  if (input.shuffle) input.examples = input.examples.shuffle({.seed = training.config.tf_random_seed});
  input.examples = Dataset::concatenate(
      {input.examples.repeat().take(done * input.batch_size), input.examples.repeat(input.num_epochs)});
  input.shuffle = false;
  input.num_epochs = 1;
  return input;
}

// `begun_at`: of tasks in this process, the step at which all of them begin. They need no mark of the
// end, and none comes back, so that this step tells one train() from the next; else its end does.
template <class Strategy>
void train_as_task(const TrainCall& training, Strategy strategy, const Saved& saved,
                   std::optional<std::int64_t> begun_at = {}) {
  if (training.options.steps)
    throw invalid_argument(fmt::format(
        "train: steps ({}) would count from another checkpoint on each task of a cluster that "
        "joins later; give max_steps",
        *training.options.steps));
  Server& server = *strategy.server;
  FitOptions options = fit_options_of(training, server);
  const auto& max_steps = training.options.max_steps;
  const std::int64_t goal = max_steps ? *max_steps : steps_of(training, server);
  strategy.options = replica_options_of(training, std::move(strategy.options), goal);
  strategy.options.mark_end = !begun_at;
  options.strategy = strategy;
  const auto run = std::make_shared<ClusterRun>(training.config, server.runtime()->clock(), saved,
                                                begun_at.value_or(goal));
  options.callbacks.insert(options.callbacks.begin(), run);
  Model model = training.model.trainable();
  model.fit(training.model.for_training(training.input), options);
  Storage& storage = server.runtime()->storage();
  if (!begun_at && run->complete() && !is_complete(storage, training.config.model_dir, goal))
    with_storage_tries(*server.runtime(), "marking the end of training",
                       [&] { mark_complete(storage, training.config.model_dir, goal); });
}

// By tasks of this process, so that they agree on what was trained before.
template <class StrategyOf>
void train_here_by(int tasks, const TrainCall& training, const Saved& saved,
                   const StrategyOf& strategy_of) {
  const auto done =
      newest_whole_step(storage_of(training.config), training.config.model_dir).value_or(0);
  EstimatorTrainOptions options = training.options;
  if (const auto more = std::exchange(options.steps, std::nullopt)) options.max_steps = done + *more;
  const auto input = training.input.num_epochs > 0 ? begun_anew(training, done) : training.input;
  LocalCluster cluster({{"worker", tasks}});
  run_on_threads(cluster, tasks, [&](int task) {
    train_as_task(TrainCall{training.model, input, training.config, options},
                  strategy_of(cluster.server("worker", task)), saved, done);
  });
}

}  // namespace

void train_on(const TrainCall& training, const ParameterServer& strategy, const Saved& saved) {
  train_as_task(training, strategy, saved);
}

void train_on(const TrainCall& training, const MultiWorkerMirrored& strategy, const Saved& saved) {
  train_as_task(training, strategy, saved);
}

// What is next follows from the input's own order, of which a newcomer knows nothing.
void train_on(const TrainCall&, const ElasticMirrored&, const Saved&) {
  throw Error(Code::failed_precondition,
              "an estimator's tasks cannot change while it trains; launch it without --min, --max and "
              "--host_discovery");
}

void train_on(const TrainCall& training, const Mirrored& strategy, const Saved& saved) {
  check_mirrored(strategy);
  train_here_by(strategy.replicas, training, saved,
                [](Server& server) { return MultiWorkerMirrored{server}; });
}

void train_on(const TrainCall& training, const Pipeline& strategy, const Saved& saved) {
  if (strategy.server) return train_as_task(training, strategy, saved);
  const PipelineOptions& cut = strategy.cut;
  check_pipeline(cut, {});
  train_here_by(cut.stages * cut.replicas, training, saved, [&cut](Server& server) {
    return Pipeline{server, cut};
  });
}

}  // namespace actorflow
