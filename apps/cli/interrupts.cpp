#include "apps/cli/interrupts.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "apps/cli/program.h"

namespace actorflow {
namespace {

constexpr int end_of_watch = SIGUSR1;
constexpr std::chrono::milliseconds last_grace{2000};

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, end_of_watch}) sigaddset(&signals, signal);
  return signals;
}

// The next signal, or -1 if none came in time.
int wait_for_signal(std::chrono::milliseconds timeout) {
  const sigset_t signals = watched_signals();
  const timespec limit{timeout.count() / 1000, timeout.count() % 1000 * 1'000'000};
  int signal = 0;
  do signal = sigtimedwait(&signals, nullptr, &limit);
  while (signal < 0 && errno == EINTR);
  return signal;
}

}  // namespace

Interrupts::Interrupts(std::chrono::milliseconds grace) : grace_(grace) {
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  watcher_ = std::thread([this] { watch(); });
}

Interrupts::~Interrupts() {
  pthread_kill(watcher_.native_handle(), end_of_watch);
  watcher_.join();
}

void Interrupts::on_overdue(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  overdue_ = std::move(action);
}

void Interrupts::watch() {
  const sigset_t signals = watched_signals();
  int signal = 0;
  sigwait(&signals, &signal);
  if (signal == end_of_watch) return;
  requested_ = true;
  const int second = wait_for_signal(grace_);
  if (second == end_of_watch) return;
  if (second < 0) {
    std::unique_lock lock(mutex_);
    if (overdue_) {
      overdue_();
      lock.unlock();
      if (wait_for_signal(last_grace) == end_of_watch) return;
    }
  }
  _exit(interrupted_run);
}

}  // namespace actorflow
