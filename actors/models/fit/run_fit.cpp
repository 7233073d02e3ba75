#include "actors/models/fit/run_fit.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "actors/models/data/class_weight.h"
#include "actors/models/fit/cluster_fit.h"
#include "actors/models/fit/fit_data.h"
#include "actors/models/fit/fit_loop.h"
#include "actors/models/fit/fit_settings.h"
#include "actors/models/fit/pipeline_plan.h"
#include "actors/monitored/training_end.h"
#include "actors/runtime/runtime.h"
#include "actors/strategies/elastic_task.h"
#include "actors/strategies/meeting.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Says of a model that fit() trains it.
class InFit {
 public:
  explicit InFit(ModelEngine& engine) : engine_(engine) { engine_.in_fit = true; }
  InFit(const InFit&) = delete;
  InFit& operator=(const InFit&) = delete;
  ~InFit() { engine_.in_fit = false; }

 private:
  ModelEngine& engine_;
};

// What a task has of a fit().
struct FitEnd {
  History history{};
  std::optional<std::int64_t> steps{};  // of the model; none of a task that served
  bool has_weights = false;             // the model has them: the chief's
};

// The same with the step at which training is complete, if the data tell it: a task that comes back when
// the chief has ended learns from its mark that nobody will call it. Data of unknown size are read for
// that only where there is a mark.
ReplicaOptions with_last_step(ReplicaOptions replica, const Server& server, const TrainingData& data,
                              const FitOptions& options) {
  const bool has_mark = !replica.checkpoint_folder.empty() && replica.train_steps == 0;
  if (!has_mark || options.auto_shard_policy == AutoShardPolicy::off || data.size() == 0) return replica;
  const bool reads_all = !data.size() && options.steps_per_epoch == 0;
  if (reads_all && !is_complete(server.runtime()->storage(), replica.checkpoint_folder, 1))
    return replica;
  replica.train_steps = options.epochs * steps_of_epoch(server, data, options);
  return replica;
}

FitEnd fit_on(Server& server, Model& model, ModelEngine& engine, const TrainingData& data,
              const FitOptions& options, const ReplicaOptions& replica,
              const PipelineOptions* pipeline = nullptr) {
  if (replica_config(server, replica).replica < 0) {
    serve_parameters(server, with_last_step(replica, server, data, options),
                     settings_of_server(options, engine.architecture, engine.compiled(), replica));
    return {};
  }
  std::optional<ClusterFit> fit;
  try {
    fit.emplace(model, engine, server, data, options, replica, pipeline);
  } catch (...) {
    if (replica_config(server, replica).is_chief()) tell_why_the_chief_failed(server);
    throw;
  }
  fit->run();
  return {std::move(fit->history()), fit->steps(), fit->has_weights()};
}

History take(FitEnd end, ModelEngine& engine) {
  if (end.steps) engine.set_steps(*end.steps);
  engine.lacks_weights = !end.has_weights;
  return std::move(end.history);
}

History fit_as_task(Server& server, Model& model, ModelEngine& engine, const TrainingData& data,
                    const FitOptions& options, const ReplicaOptions& replica,
                    const PipelineOptions* pipeline = nullptr) {
  return take(fit_on(server, model, engine, data, options, replica, pipeline), engine);
}

// The tasks of a cluster that hold variables where there are no parameter servers.
std::string job_of_variables(const Server& server) {
  return server.cluster().contains({"worker", 0}) ? "worker" : "chief";
}

// Runs tasks of this process; returns the history of the first.
History fit_here(int tasks, Model& model, ModelEngine& engine, const TrainingData& data,
                 const FitOptions& options, const ReplicaOptions& replica,
                 const PipelineOptions* pipeline = nullptr) {
  LocalCluster cluster({{"worker", tasks}}, 0, engine.compiled().extensions);
  FitEnd chief;
  std::optional<Error> not_finite;  // the chief's, which knows the data; others only hear of it
  const auto run = [&](int task) {
    try {
      FitEnd own =
          fit_on(cluster.server("worker", task), model, engine, data, options, replica, pipeline);
      if (task == 0) chief = std::move(own);
    } catch (const Error& error) {
      if (task == 0 && error.code() == Code::not_finite) not_finite = error;
      throw;
    }
  };
  try {
    run_on_threads(cluster, tasks, run);
  } catch (const Error&) {
    if (not_finite) throw Error(*not_finite);
    throw;
  }
  return take(std::move(chief), engine);
}

History fit_with(const Mirrored& strategy, Model& model, ModelEngine& engine, const TrainingData& data,
                 const FitOptions& options) {
  check_mirrored(strategy);
  return fit_here(strategy.replicas, model, engine, data, options, {.strategy = AllReduce{}});
}

History fit_with(const MultiWorkerMirrored& strategy, Model& model, ModelEngine& engine,
                 const TrainingData& data, const FitOptions& options) {
  return fit_as_task(*strategy.server, model, engine, data, options, strategy.options);
}

History fit_with(const ElasticMirrored& strategy, Model& model, ModelEngine& engine,
                 const TrainingData& data, const FitOptions& options) {
  check_elastic(strategy.options);
  if (options.gradient_accumulation_steps > 1)
    throw invalid_argument(fmt::format(
        "the tasks of an elastic job have unequal parts of a batch, which are not cut again: "
        "gradient_accumulation_steps is {}; leave it out",
        options.gradient_accumulation_steps));
  static const std::atomic<bool> never{false};
  ElasticFit elastic{*strategy.task};
  const auto train = [&](Server& server) {
    return ClusterFit(model, engine, server, data, options, strategy.options, nullptr, &elastic).run();
  };
  strategy.task->run(train, options.interrupted ? *options.interrupted : never);
  return take({std::move(elastic.history), elastic.steps, elastic.has_weights}, engine);
}

History fit_with(const ParameterServer& strategy, Model& model, ModelEngine& engine,
                 const TrainingData& data, const FitOptions& options) {
  return fit_as_task(*strategy.server, model, engine, data, options, strategy.options);
}

History fit_with(const Pipeline& strategy, Model& model, ModelEngine& engine, const TrainingData& data,
                 const FitOptions& options) {
  check_pipeline(strategy.cut, options);
  ReplicaOptions replica = strategy.options;
  replica.strategy = Synchronous{};
  replica.tasks_per_replica = strategy.cut.stages;
  if (strategy.server) {
    replica.ps_job = job_of_variables(*strategy.server);
    return fit_as_task(*strategy.server, model, engine, data, options, replica, &strategy.cut);
  }
  replica.ps_job = "worker";
  return fit_here(strategy.cut.stages * strategy.cut.replicas, model, engine, data, options, replica,
                  &strategy.cut);
}

History fit_with(const OneDevice&, Model& model, ModelEngine& engine, const TrainingData& data,
                 const FitOptions& options) {
  return FitLoop(model, engine, data, options).run();
}

void check_shards(const FitOptions& options) {
  if (options.auto_shard_policy == AutoShardPolicy::data) return;
  if (std::holds_alternative<OneDevice>(options.strategy)) return;
  const auto* workers = std::get_if<MultiWorkerMirrored>(&options.strategy);
  if (!workers)
    throw invalid_argument(
        "fit: AutoShardPolicy::off, with data of each replica's own, is for MultiWorkerMirrored; give "
        "that strategy, or leave out auto_shard_policy");
  if (const int steps = std::get<AllReduce>(workers->options.strategy).local_steps; steps > 1)
    throw invalid_argument(fmt::format(
        "fit: replicas with data of their own (AutoShardPolicy::off) make each step together, but "
        "local_steps is {}; leave out one of the two",
        steps));
}

}  // namespace

void check_mirrored(const Mirrored& strategy) {
  if (strategy.replicas < 1)
    throw invalid_argument(
        fmt::format("mirrored: expected 1 replica or more, got {}", strategy.replicas));
}

History run_fit(Model& model, ModelEngine& engine, const TrainingData& data, const FitOptions& options) {
  engine.expect_no_fit("fit");
  check_options(options, data);
  check_shards(options);
  check_class_weight(options.class_weight, engine.compiled(), engine.architecture.outputs.size());
  const InFit in_fit(engine);
  const bool lacked_weights = std::exchange(engine.lacks_weights, false);
  try {
    return std::visit(
        [&](const auto& strategy) { return fit_with(strategy, model, engine, data, options); },
        options.strategy);
  } catch (...) {
    engine.lacks_weights = lacked_weights;
    throw;
  }
}

}  // namespace actorflow
