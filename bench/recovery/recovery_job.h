// A training job of processes to which faults happen, and when its workers made their steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <fstream>
#include <string>
#include <vector>

#include "apps/rehearsal/real_network.h"
#include "apps/rehearsal/real_task.h"
#include "apps/rehearsal/temporary_folder.h"
#include "bench/recovery/recovery_task.h"

namespace actorflow::bench {

// 2 parameter servers and 3 workers, of which the first is the chief. A task that ends with an error is
// started again, as by `actorflow supervise`. The job ends with this object. Times are seconds of the
// steady clock. Waits end with deadline_exceeded after two minutes. Not thread-safe.
class RecoveryJob {
 public:
  static constexpr int num_ps = 2, num_workers = 3;

  // `machines`: each task on one of its own, so that it can be cut off; throws unavailable where there
  // can be none.
  RecoveryJob(bool sync, std::int64_t heartbeat_timeout_ms, bool machines);

  // kill -9, and a new process at once.
  void replace(const TaskName& task);
  void hold(const TaskName& task, bool held) { find(task).hold(held); }
  void cut_off(const TaskName& task);
  void join_all() { network_.apply({}); }

  // Until each worker has made so many steps after `since`.
  void wait_for_steps(double since, std::size_t steps);
  // When another task has said that it hears nothing of this one. REQUIRES: it had not before `since`.
  double wait_until_missed(const TaskName& task, double since);

  // How long a worker was without a step at most, from `since` to its last one.
  double longest_gap(int worker, double since) const;
  // The median time from one step of a worker to its next, until `until`.
  double median_step(int worker, double until) const;

  static double now() { return static_cast<double>(steady_ns()) / 1e9; }

 private:
  struct Log {
    std::ifstream file{};
    std::string rest{};  // of a line that is not yet whole
    std::vector<double> steps{};
    std::vector<std::pair<double, std::string>> warnings{};
  };
  RealTask& find(const TaskName& task);
  std::vector<std::string> command(std::size_t task, const RecoveryOptions& options) const;
  std::string tf_config(const TaskName& task) const;
  // What tasks have written, and who has ended.
  void look();
  static void read(Log& log);
  static void take_line(Log& log, const std::string& line);
  template <class Condition>
  void wait_for(const std::string& what, Condition&& condition);
  const Log& log_of(int worker) const { return logs_[static_cast<std::size_t>(num_ps + worker)]; }

  TemporaryFolder folder_{"actorflow-recovery"};
  RealNetwork network_;
  std::vector<Log> logs_;  // in the order of the tasks
  std::deque<RealTask> tasks_;
};

}  // namespace actorflow::bench
