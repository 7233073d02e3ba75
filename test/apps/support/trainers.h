// A cluster of trainer processes on loopback.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "test/apps/support/process.h"
#include "test/support/folder.h"

namespace actorflow::test {

class Trainers {
 public:
  // Every process gets `flags`, besides those of its task, and these environment variables
  // ("NAME=value").
  Trainers(int ps, int workers, std::vector<std::string> flags, std::vector<std::string> environment = {});

  // Starts a task, also again after it has ended.
  Process& start(const std::string& job, int task);
  void start_all();
  Process& task(const std::string& job, int task);
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

  Folder folder_;
  std::vector<std::string> flags_;
  const std::vector<std::string> environment_;
  std::vector<Task> tasks_;
};

// Runs `actorflow train mnist` in one process with these flags and returns its report.
std::string train_in_one_process(std::vector<std::string> flags);
// A value in a report, as text.
std::string report_value(const std::string& report, const std::string& key);

}  // namespace actorflow::test
