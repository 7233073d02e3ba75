#include "apps/launch/keeper/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "actors/runtime/exit_status.h"
#include "apps/launch/keeper/machine_probe.h"
#include "apps/launch/keeper/spawn.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr int not_started = 127;
constexpr std::chrono::seconds time_to_end{5};

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGCHLD, SIG_DFL);  // if it is ignored, the end of the program cannot be seen
  return signals;
}

// How the program ended, as a shell says it, and whether this process has been told to end.
struct ProgramEnd {
  int status = 0;
  bool is_last = false;
};

// Pauses. Returns the signal that ended the pause, or 0.
int rest(std::chrono::milliseconds pause, const sigset_t& signals) {
  const auto end = std::chrono::steady_clock::now() + pause;
  while (true) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) return 0;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec limit{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
    const int signal = sigtimedwait(&signals, nullptr, &limit);
    if (signal == SIGINT || signal == SIGTERM) return signal;
  }
}

// Whether a process of the group runs. One that has ended and waits for its parent does not.
bool runs(pid_t group) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::string text;
    std::getline(std::ifstream(entry.path() / "stat"), text, '\0');
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream numbers(text.substr(name_end + 1));
    char state = 0;
    pid_t parent = 0, of = 0;
    numbers >> state >> parent >> of;
    if (of == group && state != 'Z' && state != 'X') return true;
  }
  return false;
}

// Waits for processes that the program has started: the program may be a script that does not wait for
// them, and they got the signal, too, and may be saving.
void let_others_end(pid_t group, const sigset_t& signals) {
  const auto end = std::chrono::steady_clock::now() + time_to_end;
  while (runs(group) && std::chrono::steady_clock::now() < end)
    if (rest(std::chrono::milliseconds(20), signals) != 0) return;
}

ProgramEnd wait_for(pid_t program, const sigset_t& signals) {
  ProgramEnd end;
  while (true) {
    siginfo_t ended{};
    waitid(P_PID, program, &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid == program) {
      if (end.is_last) let_others_end(program, signals);
      kill(-program, SIGKILL);  // processes it has left; its number is not reused before waitpid()
      waitpid(program, nullptr, 0);
      end.status = ended.si_code == CLD_EXITED ? ended.si_status : 128 + ended.si_status;
      return end;
    }
    if (const int signal = sigwaitinfo(&signals, nullptr); signal != SIGINT && signal != SIGTERM)
      continue;
    kill(-program, end.is_last ? SIGKILL : SIGTERM);
    end.is_last = true;
  }
}

bool is_final(int status) {
  return status == success || status == bad_usage || status == interrupted_run;
}

// A program that cannot be started counts as one that failed: it may just be being replaced on disk.
ProgramEnd run_once(const SpawnRequest& request, const sigset_t& signals) {
  try {
    return wait_for(spawn(request), signals);
  } catch (const std::exception& error) {
    fmt::print(stderr, "supervise: {}\n", error.what());
    return {not_started};
  }
}

}  // namespace

int supervise(const std::vector<std::string>& command, GrowingPause pause) {
  const sigset_t signals = watched_signals();
  const FileDescriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpawnRequest request;
  request.path = find_program(command.at(0));
  request.arguments = command;
  request.environment = own_environment();
  request.descriptors = {{nothing.get(), STDIN_FILENO}};
  request.dies_with_us = true;
  while (true) {
    const auto begin = std::chrono::steady_clock::now();
    const ProgramEnd end = run_once(request, signals);
    if (end.is_last || is_final(end.status)) return end.status;
    const auto time = pause.after(
        std::chrono::floor<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin));
    fmt::print(
        stderr, "supervise: {} ended with status {}; starting it again{}\n", command[0], end.status,
        time.count() > 0 ? fmt::format(" in {} s", std::chrono::duration<double>(time).count()) : "");
    if (const int signal = rest(time, signals)) return 128 + signal;
  }
}

}  // namespace actorflow
