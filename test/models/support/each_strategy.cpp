#include "test/models/support/each_strategy.h"

#include <future>
#include <utility>
#include <vector>

namespace actorflow::test {
namespace {

using Another = std::function<Model(const Model&)>;

FitBy with(Distribution strategy) {
  return [strategy = std::move(strategy)](Model& model, const TrainingData& data, FitOptions options) {
    options.strategy = strategy;
    model.fit(data, options);
  };
}

FitBy on_cluster(const Another& another, std::vector<LocalCluster::Job> jobs,
                 std::function<Distribution(Server&)> strategy) {
  return [=](Model& model, const TrainingData& data, const FitOptions& options) {
    LocalCluster cluster(jobs);
    std::vector<std::future<void>> others;
    for (const auto& [job, tasks] : jobs)
      for (int task = job == jobs[0].name ? 1 : 0; task < tasks; ++task)
        others.push_back(std::async(std::launch::async, [&, &job = job, task] {
          Model own = another(model);
          FitOptions same = options;
          same.callbacks = {};
          with(strategy(cluster.server(job, task)))(own, data, same);
        }));
    with(strategy(cluster.server(jobs[0].name, 0)))(model, data, options);
    for (auto& other : others) other.get();
  };
}

}  // namespace

std::map<std::string, FitBy> each_strategy(const Another& another) {
  const auto servers = [](Server& server) { return ParameterServer{server}; };
  const auto sharded = [](Server& server) {
    return MultiWorkerMirrored{server, {.strategy = AllReduce{.sharded_optimizer = true}}};
  };
  const auto pipelines = [](Server& server) {
    return Pipeline{server, {.stages = 2, .micro_batches = 1}};
  };
  return {
      {"one device", with(OneDevice{})},
      {"mirrored", with(Mirrored{2})},
      {"pipeline", with(Pipeline{{.stages = 2, .micro_batches = 2}})},
      {"parameter servers", on_cluster(another, {{"chief", 1}, {"worker", 1}, {"ps", 2}}, servers)},
      {"sharded", on_cluster(another, {{"worker", 2}}, sharded)},
      {"two pipelines", on_cluster(another, {{"worker", 4}}, pipelines)},
  };
}

}  // namespace actorflow::test
