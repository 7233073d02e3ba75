#include "apps/rehearsal/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace actorflow {
namespace {

int checked(int result, const std::string& what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

// The child's side of fork(): becomes the program, or ends. Other threads may hold any lock: system
// calls only.
[[noreturn]] void become(char* const* arguments, int input, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(arguments[0], arguments);
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(std::vector<std::string> command, const std::string& output_file) {
  std::vector<char*> arguments;
  for (auto& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const int input = checked(open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null");
  const int output = open(output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const pid_t parent = getpid();
  if (output >= 0) id_ = fork();
  if (output >= 0 && id_ == 0) become(arguments.data(), input, output, parent);
  const int error = errno;
  close(input);
  if (output >= 0) close(output);
  if (id_ < 0)
    throw std::system_error(error, std::generic_category(), output < 0 ? output_file : "fork");
  setpgid(id_, id_);  // whichever of the two is first
}

ChildProcess::~ChildProcess() {
  if (status_) return;
  send_signal(SIGKILL);
  while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ChildProcess::send_signal(int signal) {
  if (!status_) kill(-id_, signal);
}

std::optional<int> ChildProcess::status() {
  int raw = 0;
  if (!status_ && waitpid(id_, &raw, WNOHANG) == id_)
    status_ = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
  return status_;
}

}  // namespace actorflow
