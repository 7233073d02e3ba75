// Code that ends its process, run in a child.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <functional>
#include <string>

namespace actorflow::test {

struct Death {
  int signal = 0;    // 0: not ended by a signal
  int status = 0;    // with which it exited, if no signal has ended it
  std::string said;  // on standard error
};

// Runs `body` in a copy of this process without Boost's own signal handlers. A copy has no threads but
// the calling one: call this before anything has started some.
inline Death death_of(const std::function<void()>& body) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::signal(signal, SIG_DFL);
    alarm(60);  // ends a hang
    body();
    _exit(0);
  }
  close(ends[1]);
  Death death;
  std::array<char, 4096> part;
  for (ssize_t size; (size = read(ends[0], part.data(), part.size())) > 0;)
    death.said.append(part.data(), static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) death.signal = WTERMSIG(status);
  if (WIFEXITED(status)) death.status = WEXITSTATUS(status);
  return death;
}

// Runs a test case of this program in a process of its own, which may start threads whatever ran here
// before. The case finds the variable ACTORFLOW_TEST_CHILD in its environment.
inline Death death_of_case(const std::string& test_case) {
  return death_of([&test_case] {
    setenv("ACTORFLOW_TEST_CHILD", "1", 1);
    const std::string selection = "--run_test=" + test_case;
    execl("/proc/self/exe", "test", selection.c_str(), "--catch_system_errors=no", nullptr);
  });
}
inline bool is_child() { return std::getenv("ACTORFLOW_TEST_CHILD") != nullptr; }

}  // namespace actorflow::test
