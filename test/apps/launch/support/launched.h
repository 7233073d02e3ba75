// `actorflow launch` as a process, and what it must leave behind: nothing.
#pragma once

#include <string>
#include <vector>

#include "test/apps/support/process.h"
#include "test/support/folder.h"

namespace actorflow::test {

// The command line of a launch.
std::vector<std::string> launch_command(std::vector<std::string> arguments);

// The processes whose environment has ACTORFLOW_TEST_MARK=`mark`, zombies left out.
std::vector<int> marked_processes(const std::string& mark);

// Waits until that many are there.
void expect_marked(const std::string& mark, std::size_t count);

// A job whose tasks, and whatever they start, carry a mark.
class Launched {
 public:
  // `flags` of launch, then the program and its arguments.
  Launched(std::vector<std::string> flags, const std::vector<std::string>& program);

  Process& process() { return process_; }
  int wait() { return process_.wait(); }
  std::string output() { return process_.output(); }
  const std::string& mark() const { return mark_; }
  // The line that was printed last.
  std::string last_line();
  // Waits until that many processes of the job are there.
  void expect_processes(std::size_t count) { expect_marked(mark_, count); }
  // The first process of the task whose environment has this assignment.
  int task_with(const std::string& assignment);
  // Waits until none is there.
  void expect_nothing_left() { expect_processes(0); }

 private:
  std::string mark_;
  Process process_;
};

// The process that has started this one.
int parent_of(int process);
// As the system names it.
std::string name_of_this_machine();

// Checks that the part is in the text.
void expect(const std::string& text, const std::string& part);
// What follows `before`, which has to be there, up to the end of the line.
std::string rest_of_line(const std::string& text, const std::string& before);

// A task that runs until it is killed, and has two more processes, one of a session of its own.
inline const std::vector<std::string> sleeping_family{
    "/bin/bash", "-c", "echo began; sleep 1000 & setsid sleep 1000 & wait; sleep 1000"};

}  // namespace actorflow::test
