// Which tasks of a job run, what is done when one ends, and how the job itself ends. No process here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/launch/task_layout.h"

namespace actorflow {

// How a process has ended.
struct TaskEnd {
  int status = 0;   // 128 + the signal if one has ended it
  int signal = 0;   // 0: it has exited
  std::string why;  // not empty: it has never begun

  // "was killed by signal 9 (Killed)", "ended with status 3", ...
  std::string to_string() const;
};

// What follows from the end of a task.
enum class Consequence { none, start_again, go_on, end_job };

class JobProgress {
 public:
  JobProgress(std::vector<LaunchedTask> tasks, int restarts);

  const std::vector<LaunchedTask>& tasks() const { return tasks_; }
  // Another task of the job, which runs now; returns its index.
  int add(LaunchedTask task);
  // From now on the job goes on without a task that has failed.
  void go_on_without_failed() { goes_on_ = true; }
  void set_port(int task, int port) { tasks_.at(static_cast<std::size_t>(task)).port = port; }
  // The task is running again; the same one with its restart counted.
  const LaunchedTask& restarted(int task);
  // Notes a task's first sign of life: from now on it is started again when it dies.
  void is_alive(int task) { at(task).alive = true; }
  // `says` becomes what a person should read after the task's name, "" for nothing.
  Consequence ended(int task, const TaskEnd& end, std::string& says);

  bool is_running(int task) const { return state(task).is_running; }
  // Whether all that have a rank, and the evaluator, have ended well: only parameter servers are left.
  bool work_is_done() const;
  // Whether no task is running.
  bool all_have_ended() const;

 private:
  struct State {
    bool is_running = true;
    bool alive = false;
  };

  State& at(int task) { return states_.at(static_cast<std::size_t>(task)); }
  const State& state(int task) const { return states_.at(static_cast<std::size_t>(task)); }

  std::vector<LaunchedTask> tasks_;
  std::vector<State> states_;
  const int restarts_;
  int left_;
  bool goes_on_ = false;
};

}  // namespace actorflow
