// A training job whose tasks are started again when they die.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "test/apps/support/folder.h"
#include "test/apps/support/process.h"

namespace actorflow::test {

// 2 parameter servers, a chief, a worker and an evaluator, each a trainer under apps/supervise with its
// task in TF_CONFIG.
class SupervisedJob {
 public:
  struct Task {
    std::string job;
    int index = 0;
    std::string address;
    std::unique_ptr<Process> process;
  };

  // Every trainer gets `flags`, and a checkpoint every 50 steps.
  explicit SupervisedJob(std::vector<std::string> flags);

  void start_all();
  // Waits until there is a checkpoint of this global step or later.
  void wait_for_step(std::int64_t step);
  // kill -9 of the trainers of a job's task, or of all tasks; their supervisors go on.
  void kill(const std::string& job, int index);
  void kill_all();

  // Waits for all, and checks that each ends with status 0, and that the evaluator has evaluated the
  // last checkpoint, once.
  void expect_success();
  std::string report() const { return read_file(folder_.file("report.json")); }
  // How often a trainer was started again.
  int restarts();
  // Starts a task again when all is over; its status and output are those of an ended process.
  Process& start(const std::string& job, int index);

 private:
  Task& find(const std::string& job, int index);
  std::string tf_config(const Task& task) const;

  Folder folder_;
  std::vector<std::string> flags_;
  std::vector<Task> tasks_;
};

}  // namespace actorflow::test
