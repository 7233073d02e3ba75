#include <fmt/format.h>

#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "actors/strategies/distribution.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

void stop_all(LocalCluster& cluster, const std::string& reason) {
  for (const auto& task : cluster.cluster().all_tasks())
    cluster.server(task.job, task.index).stop(reason);
}

std::jthread thread_of(int task, int tasks, const std::function<void(int)>& run) {
  try {
    return std::jthread(run, task);
  } catch (const std::system_error& error) {
    throw Error(
        Code::resource_exhausted,
        fmt::format("expected to start a thread for each of {} replicas, but after {} the system "
                    "starts no more ({}); ask for fewer, or raise what limits this user "
                    "(ulimit -u) or container",
                    tasks, task, error.what()));
  }
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
  const auto fail = [&](const std::string& why) {
    if (error.keep()) stop_all(cluster, why);
  };
  const auto run = [&](int task) {
    try {
      replica(task);
    } catch (const std::exception& failure) {
      fail(failure.what());
    } catch (...) {
      fail(fmt::format("the replica of task {} has ended", task));
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (int task = 0; task < tasks; ++task) threads.push_back(thread_of(task, tasks, run));
    } catch (const std::exception& failure) {  // those that have begun would wait for the others
      fail(failure.what());
    }
  }
  error.rethrow_if_any();
}

}  // namespace actorflow
