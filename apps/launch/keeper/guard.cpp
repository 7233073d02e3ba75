#include "apps/launch/keeper/guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "apps/launch/keeper/key_folder.h"
#include "apps/launch/keeper/leftovers.h"
#include "dataflow/values/error.h"
#include "schema/file_descriptor.h"

namespace actorflow {
namespace {

// They stay blocked in the child, which reads them, too (signals.h).
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGCHLD, SIG_DFL);
  return signals;
}

// The frames of the launcher are for the child alone.
void give_up_input() {
  const FileDescriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing) dup2(nothing.get(), STDIN_FILENO);
}

// Returns how it has ended, as waitpid() says.
int end_of(pid_t child, const sigset_t& signals) {
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0)
    if (const int signal = sigwaitinfo(&signals, nullptr); signal > 0 && signal != SIGCHLD)
      kill(child, signal);
  return status;
}

}  // namespace

int guarded(const std::function<int()>& keep) {
  const sigset_t signals = block_signals();
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what a killed keeper leaves becomes ours
  const pid_t own = getpid(), keeper = fork();
  if (keeper < 0)
    throw Error(Code::failed_precondition,
                fmt::format("a process cannot be started: {}", std::strerror(errno)));
  if (keeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return getppid() == own ? keep() : 127;
  }
  give_up_input();
  const int status = end_of(keeper, signals);
  kill_leftovers();
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  clear_abandoned_keys();
  const int signal = WTERMSIG(status);
  fmt::print(stderr, "its keeper was killed by signal {} ({}), and so was what it had started\n", signal,
             strsignal(signal));
  return 128 + signal;
}

}  // namespace actorflow
