#include "apps/launch/keeper/leftovers.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

namespace actorflow {

void kill_leftovers() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < end) {
    std::ifstream children(fmt::format("/proc/self/task/{}/children", getpid()));
    for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
    pid_t reaped = 0;
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (reaped < 0 && errno == ECHILD) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace actorflow
