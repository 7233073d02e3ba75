// A cluster of trainer processes on loopback.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "test/apps/support/process.h"
#include "test/support/folder.h"

namespace actorflow::test {

class Trainers {
 public:
  // Every process gets `flags` besides those that say which task it is, and these variables
  // ("NAME=value"). `program`: one of the build that takes the trainer's flags of the cluster and
  // --report.
  Trainers(int ps, int workers, std::vector<std::string> flags,
           std::vector<std::string> environment = {}, std::string program = "trainer");

  // Those that are started from now on reach each other task where this says, for its address.
  void go_by(std::function<std::string(const std::string&)> way) { way_ = std::move(way); }

  // Starts a task, also again after it has ended.
  Process& start(const std::string& job, int task);
  void start_all();
  Process& task(const std::string& job, int task);
  // kill -9 of a task, and another in its place.
  void replace(const std::string& job, int task);
  // The address of a task.
  const std::string& address(const std::string& job, int task);

  // Waits for all started processes and checks that they end well and leave no open port.
  void expect_success();
  // A value of the chief's report.
  std::string report_text() const { return read_file(folder_.file("report.json")); }
  double report_number(const std::string& key) const;
  std::string weights_hash() const;

 private:
  struct Task {
    std::string job;
    int index;
    std::string address;
    std::unique_ptr<Process> process;
  };
  Task& find(const std::string& job, int task);
  // The addresses of a job, as this task reaches them.
  std::string hosts(const std::string& job, const Task& from) const;

  Folder folder_;
  std::vector<std::string> flags_;
  const std::vector<std::string> environment_;
  const std::string program_;
  std::function<std::string(const std::string&)> way_ = [](const std::string& address) {
    return address;
  };
  std::vector<Task> tasks_;
};

// Runs `actorflow train mnist` in one process with these flags and returns its report.
std::string train_in_one_process(std::vector<std::string> flags);
// A value in a report, as text.
std::string report_value(const std::string& report, const std::string& key);

}  // namespace actorflow::test
