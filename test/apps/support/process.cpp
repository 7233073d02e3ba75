#include "test/apps/support/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "test/support/hang_limit.h"

namespace actorflow::test {
namespace {

using Clock = std::chrono::steady_clock;

// The child's side of fork(): becomes the program, or ends.
[[noreturn]] void become(std::vector<char*> arguments, int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

Process::Process(std::vector<std::string> command) : name_(command.front()) {
  if (name_.find('/') == std::string::npos) command.front() = ACTORFLOW_BIN_DIR "/" + name_;
  std::vector<char*> arguments;
  for (auto& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  BOOST_REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
  id_ = fork();
  BOOST_REQUIRE(id_ >= 0);
  if (id_ == 0) become(std::move(arguments), ends[1]);
  close(ends[1]);
  pipe_ = ends[0];
  reader_ = std::thread([this] { read_output(); });
}

Process::~Process() {
  if (!status_) {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  reader_.join();
  close(pipe_);
}

int Process::wait() {
  const auto end = Clock::now() + hang_limit;
  {
    // Its end of the pipe closes when it ends.
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, end, [this] { return output_ended_; });
  }
  while (!poll_status() && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!status_) {
    BOOST_ERROR(name_ << " has not ended after " << hang_limit.count() << " s; it printed:\n"
                      << output());
    kill(id_, SIGKILL);
    while (!poll_status()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return *status_;
}

void Process::send_signal(int signal) {
  if (poll_status()) return;
  kill(id_, signal);
  // Its threads go on until each of them sees the signal.
  siginfo_t ignored;
  if (signal == SIGSTOP) waitid(P_PID, static_cast<id_t>(id_), &ignored, WSTOPPED | WEXITED | WNOWAIT);
}

bool Process::prints(const std::string& text) {
  std::unique_lock lock(mutex_);
  const auto found = [&] { return output_.find(text) != std::string::npos; };
  changed_.wait_for(lock, hang_limit, [&] { return found() || output_ended_; });
  return found();
}

std::string Process::output() {
  const std::lock_guard lock(mutex_);
  return output_;
}

void Process::read_output() {
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t size = read(pipe_, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    const std::lock_guard lock(mutex_);
    if (size <= 0) output_ended_ = true;
    if (size > 0) output_.append(part.data(), static_cast<std::size_t>(size));
    changed_.notify_all();
    if (size <= 0) return;
  }
}

std::optional<int> Process::poll_status() {
  int raw = 0;
  if (!status_ && waitpid(id_, &raw, WNOHANG) == id_)
    status_ = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
  return status_;
}

}  // namespace actorflow::test
