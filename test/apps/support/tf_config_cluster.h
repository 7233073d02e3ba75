// A program as every task of a cluster that TF_CONFIG describes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/rehearsal/lan.h"
#include "test/apps/support/process.h"

namespace actorflow::test {

using Jobs = std::map<std::string, int>;  // and the numbers of their tasks

class TfConfigCluster {
 public:
  // All tasks run `command`. Those of `beside`, such as an evaluator, are no part of the cluster. With
  // machines each task of the cluster has one of its own, in the order of the jobs' names.
  TfConfigCluster(std::vector<std::string> command, const Jobs& jobs, const Jobs& beside = {},
                  Lan* machines = nullptr);

  // `flags` are for this task only.
  void start(const std::string& job, int task, const std::vector<std::string>& flags = {});
  void start_all();
  // In JSON, as TF_CONFIG has it.
  const std::string& description() const { return cluster_; }
  void send_all(int signal);
  Process& process(const std::string& job, int task) { return *processes_.at({job, task}); }
  // kill -9, and another process in the task's place.
  void replace(const std::string& job, int task);
  // Checks that the exit status of every task is this one.
  void expect_all_end(int status);

 private:
  using Task = std::pair<std::string, int>;

  std::vector<std::string> addresses_of(const Jobs& jobs);

  std::vector<std::string> command_;
  Lan* machines_ = nullptr;
  std::string cluster_;  // in JSON
  std::vector<Task> tasks_;
  std::map<Task, std::unique_ptr<Process>> processes_;
};

// The last line with that text, which must be there, and its end. What the program has printed since,
// such as for whom it waits while it ends, is no part of it.
std::string last_line_with(const std::string& text, Process& process);

}  // namespace actorflow::test
