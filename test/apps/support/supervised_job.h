// A training job whose tasks are restarted when they die.
#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "apps/rehearsal/lan.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"

namespace actorflow::test {

// 2 parameter servers, a chief, 2 workers and an evaluator, each a trainer under `actorflow supervise`
// with its task in TF_CONFIG.
class SupervisedJob {
 public:
  struct Task {
    std::string job;
    int index = 0;
    std::string address;
    int machine = -1;
    std::unique_ptr<Process> process{};
  };

  // The machines of the tasks on a Lan, and their names there; the evaluator talks to nobody.
  enum Machine : int { ps_0, ps_1, chief_0, worker_0, worker_1, num_machines };
  static constexpr int replicas = 3;

  // Every trainer gets `flags`, and saves a checkpoint every `save_steps`. With `machines`, which must
  // outlive this, each runs on its own; else all are on loopback.
  explicit SupervisedJob(std::vector<std::string> flags, Lan* machines = nullptr, int save_steps = 50);

  void start_all();
  // Waits until there is a checkpoint of this global step or later.
  void wait_for_step(std::int64_t step);
  const std::string& address(const std::string& job, int index) { return find(job, index).address; }
  // The process of a task, which its supervisor has started.
  pid_t trainer(const std::string& job, int index);
  // Sends a signal to the trainer of a task, not to its supervisor.
  void signal(const std::string& job, int index, int number);
  void kill(const std::string& job, int index) { signal(job, index, SIGKILL); }
  void kill_all();
  // Waits until the task has printed this, and checks that it has.
  void expect_output(const std::string& job, int index, const std::string& text);
  std::string output(const std::string& job, int index) { return find(job, index).process->output(); }
  std::string output() const;  // of all tasks
  // Gives the task's name to another machine, and starts it there, too. Returns the earlier process.
  std::unique_ptr<Process> start_elsewhere(const std::string& job, int index, int machine);
  std::string checkpoints() const { return folder_.file("checkpoints"); }
  // The global step of the newest checkpoint, or -1.
  std::int64_t saved_step() const;

  // Waits for all tasks and checks that each ends with status 0, and that the evaluator has evaluated
  // the last checkpoint once.
  void expect_success();
  std::string report() const { return read_file(folder_.file("report.json")); }
  // The number of restarts of trainers.
  int restarts() const;
  // Restarts a task after the end of the job; the result has its status and output.
  Process& start(const std::string& job, int index);

 private:
  Task& find(const std::string& job, int index);
  std::string tf_config(const Task& task) const;

  Lan* machines_;
  Folder folder_;
  std::vector<std::string> flags_;
  std::vector<Task> tasks_;
};

}  // namespace actorflow::test
