// SIGINT and SIGTERM: the first asks to leave, the second leaves at once.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

namespace actorflow {

// Make it first in main(): threads that are started before it would still die of the signals.
// Thread-safe.
class Interrupts {
 public:
  // `grace` after the first signal what on_overdue() was given is called, to end what has not ended by
  // itself; two seconds later, or if there is nothing to call, the process exits.
  explicit Interrupts(std::chrono::milliseconds grace);
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

  // Whether a signal has come.
  const std::atomic<bool>& requested() const { return requested_; }
  // Replaces what is called; an empty function takes it away. Once this returns, the function before is
  // not running any more.
  void on_overdue(std::function<void()> action);

 private:
  void watch();

  const std::chrono::milliseconds grace_;
  std::atomic<bool> requested_ = false;
  std::mutex mutex_;
  std::function<void()> overdue_;
  std::thread watcher_;
};

}  // namespace actorflow
