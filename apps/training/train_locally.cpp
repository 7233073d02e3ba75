#include "apps/training/train_locally.h"

#include "actors/strategies/distribution.h"

namespace actorflow {

std::optional<TrainReport> train_locally(int ps, int workers, const LabelledData& data,
                                         const TrainOptions& options,
                                         const std::atomic<bool>& interrupted, Progress* progress,
                                         const std::function<void(std::function<void()>)>& started) {
  LocalCluster cluster({{"ps", ps}, {"worker", workers}});
  started([&cluster] {
    for (const auto& task : cluster.cluster().all_tasks())
      cluster.server(task.job, task.index).stop("interrupted");
  });
  std::optional<TrainReport> report;
  run_on_threads(cluster, workers, [&](int worker) {
    auto result = train_replica(cluster.server("worker", worker), data, options, interrupted,
                                worker == 0 ? progress : nullptr);
    if (worker == 0) report = std::move(result);
  });
  started(nullptr);
  return report;
}

}  // namespace actorflow
