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
  // `grace` after the first signal the function given to on_overdue() is called, to end what has not
  // ended by itself; two seconds later, or at once without such a function, the process exits.
  explicit Interrupts(std::chrono::milliseconds grace);
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

  // Whether a signal has arrived.
  const std::atomic<bool>& requested() const { return requested_; }
  // Replaces the function; an empty one removes it. When this returns, the previous function is not
  // running any more.
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
