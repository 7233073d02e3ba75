// A second process of this test program, which runs one of its test cases.
#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>
#include <utility>

namespace actorflow::test {

// The destructor kills it.
class ChildProcess {
 public:
  // The child finds `argument` in the environment variable ACTORFLOW_TEST_ARGUMENT.
  ChildProcess(const std::string& test_case, const std::string& argument) {
    setenv("ACTORFLOW_TEST_ARGUMENT", argument.c_str(), 1);
    std::string program = "test_schema", selection = "--run_test=" + test_case;
    const std::array<char*, 3> arguments{program.data(), selection.data(), nullptr};
    BOOST_REQUIRE(posix_spawn(&id_, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ) == 0);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() { kill_now(); }

  // kill -9, and waits until the process has gone.
  void kill_now() {
    if (id_ < 0) return;
    kill(id_, SIGKILL);
    waitpid(std::exchange(id_, -1), nullptr, 0);
  }

 private:
  pid_t id_ = -1;
};

}  // namespace actorflow::test
