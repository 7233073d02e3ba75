#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "actors/strategies/distribution.h"

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

void run_on_threads(LocalCluster& cluster, int tasks, const std::function<void(int)>& replica) {
  FirstError error;
  const auto run = [&](int task) {
    try {
      replica(task);
    } catch (const std::exception& failure) {
      if (error.keep()) stop_all(cluster, failure.what());
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int task = 0; task < tasks; ++task) threads.emplace_back(run, task);
  }
  error.rethrow_if_any();
}

}  // namespace actorflow
