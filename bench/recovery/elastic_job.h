// An elastic job of processes, one of which is killed, and when its tasks made their steps.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "apps/rehearsal/child_process.h"
#include "apps/rehearsal/temporary_folder.h"

namespace actorflow::bench {

// `actorflow launch` with 3 tasks, each of which is started again when it was killed. The job ends with
// this object. Times are seconds of the steady clock. Waits end with deadline_exceeded after two
// minutes. Not thread-safe.
class ElasticRecoveryJob {
 public:
  static constexpr int num_tasks = 3;

  ElasticRecoveryJob();

  // kill -9 of a task's process.
  void kill(int task);
  // Until each task has made so many steps after `since`; a task that was killed, by its next process.
  void wait_for_steps(double since, std::size_t steps);
  // How long a task was without a step at most, from `since` to its last one.
  double longest_gap(int task, double since) const;

 private:
  struct Task {
    pid_t process = 0;
    std::vector<double> steps{};
  };
  void look();
  void take_line(const std::string& line);

  TemporaryFolder folder_{"actorflow-elastic-recovery"};
  std::vector<Task> tasks_ = std::vector<Task>(num_tasks);
  std::string log_name_ = folder_.file("log"), rest_;
  ChildProcess launcher_;
  std::ifstream log_;
};

}  // namespace actorflow::bench
