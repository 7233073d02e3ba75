#include "actors/models/fit/run_fit.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "actors/models/fit/cluster_fit.h"
#include "actors/models/fit/fit_loop.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

History fit_on(Server& server, Model& model, ModelEngine& engine, const TrainingData& data,
               const FitOptions& options, const ReplicaOptions& replica) {
  if (TaskConfig::make(server.cluster(), server.name()).replica < 0) {
    serve_parameters(server, replica);
    return {};
  }
  return ClusterFit(model, engine, server, data, options, replica).run();
}

History fit_with(const Mirrored& strategy, Model& model, ModelEngine& engine, const TrainingData& data,
                 const FitOptions& options) {
  if (strategy.replicas < 1)
    throw invalid_argument(
        fmt::format("mirrored: expected 1 replica or more, got {}", strategy.replicas));
  LocalCluster cluster({{"worker", strategy.replicas}});
  const ReplicaOptions replica{.strategy = Synchronous{}, .ps_job = "worker"};
  History history;
  run_on_threads(cluster, strategy.replicas, [&](int task) {
    History own = fit_on(cluster.server("worker", task), model, engine, data, options, replica);
    if (task == 0) history = std::move(own);
  });
  return history;
}

History fit_with(const MultiWorkerMirrored& strategy, Model& model, ModelEngine& engine,
                 const TrainingData& data, const FitOptions& options) {
  ReplicaOptions replica = strategy.options;
  replica.ps_job = strategy.server->cluster().contains({"worker", 0}) ? "worker" : "chief";
  return fit_on(*strategy.server, model, engine, data, options, replica);
}

History fit_with(const ParameterServer& strategy, Model& model, ModelEngine& engine,
                 const TrainingData& data, const FitOptions& options) {
  return fit_on(*strategy.server, model, engine, data, options, strategy.options);
}

History fit_with(const OneDevice&, Model& model, ModelEngine& engine, const TrainingData& data,
                 const FitOptions& options) {
  return FitLoop(model, engine, data, options).run();
}

}  // namespace

History run_fit(Model& model, ModelEngine& engine, const TrainingData& data, const FitOptions& options) {
  check_options(options, data);
  engine.compiled();
  return std::visit(
      [&](const auto& strategy) { return fit_with(strategy, model, engine, data, options); },
      options.strategy);
}

}  // namespace actorflow
