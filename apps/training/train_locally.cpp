#include "apps/training/train_locally.h"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace actorflow {
namespace {

void stop_all(LocalCluster& cluster, const std::string& reason) {
  for (const auto& task : cluster.cluster().all_tasks())
    cluster.server(task.job, task.index).stop(reason);
}

// The first error that was thrown in a group of threads.
class FirstError {
 public:
  // Keeps the error that is being handled; true if it is the first.
  bool keep() {
    const std::lock_guard lock(mutex_);
    if (error_) return false;
    error_ = std::current_exception();
    return true;
  }
  void rethrow_if_any() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

std::optional<TrainReport> train_locally(int ps, int workers, const Mnist& data,
                                         const TrainOptions& options,
                                         const std::atomic<bool>& interrupted, Progress* progress,
                                         const std::function<void(std::function<void()>)>& started) {
  LocalCluster cluster({{"ps", ps}, {"worker", workers}});
  started([&cluster] { stop_all(cluster, "interrupted"); });
  std::optional<TrainReport> report;
  FirstError error;
  const auto run = [&](int worker) {
    try {
      auto result = train_replica(cluster.server("worker", worker), data, options, interrupted,
                                  worker == 0 ? progress : nullptr);
      if (worker == 0) report = std::move(result);
    } catch (const std::exception& failure) {
      if (error.keep()) stop_all(cluster, failure.what());
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int worker = 0; worker < workers; ++worker) threads.emplace_back(run, worker);
  }
  started(nullptr);
  error.rethrow_if_any();
  return report;
}

}  // namespace actorflow
