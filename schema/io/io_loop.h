// A thread with kj's event loop, and the way into it. Internal to schema/: includes kj.
#pragma once

#include <kj/async-io.h>
#include <kj/async-unix.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace actorflow {

// All objects of kj belong to the loop's thread: create, use and destroy them there. Tasks that are
// posted together cost one wake-up, and none if the loop itself posts them.
//
// Spinning: for a while after each message the loop polls for the next one instead of sleeping. That
// saves a wake-up per message, most of its latency, and takes a core meanwhile.
class IoLoop : private kj::TaskSet::ErrorHandler {
 public:
  using OnText = std::function<void(const std::string&)>;

  // `on_error` is called on the loop for exceptions of promises that nothing else has caught. `on_lost`
  // is called when something was not done that others rely on without end: a task that was posted, or
  // left for later, has thrown, or the loop can be woken no more. Empty: that ends the process. The loop
  // spins for `spin_us` after a message; 0: never.
  explicit IoLoop(OnText on_error, std::int64_t spin_us = 0, OnText on_lost = {});
  // Waits for the thread. A last run() must have destroyed all objects that belong to the loop.
  ~IoLoop();
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  // Any thread: runs the task on the loop, in the order of the calls.
  void post(std::function<void()> task);
  // Any thread: runs the task on the loop and waits for it; on the loop's thread it runs at once. Throws
  // what the task throws.
  void run(const std::function<void()>& task);

  // On the loop only: runs the task after the present one. The way to destroy an object whose callback
  // is on the stack.
  void later(std::function<void()> task) noexcept;
  // Any thread: says that `what` will not go on, by `on_lost` of the constructor.
  void lost(const std::string& what, const kj::Exception& why) noexcept;
  // The same, for promises that must not fail.
  auto or_lost(const char* what) {
    return [this, what](kj::Exception&& exception) { lost(what, exception); };
  }
  // Call when a message has arrived, so that the loop polls for more. (The loop itself notices posted
  // tasks.)
  void traffic();
  // Runs the promise in the background.
  void spawn(kj::Promise<void> promise) { tasks_->add(kj::mv(promise)); }
  kj::Timer& timer() { return io_->provider->getTimer(); }
  kj::Network& network() { return io_->provider->getNetwork(); }
  kj::LowLevelAsyncIoProvider& sockets() { return *io_->lowLevelProvider; }
  kj::UnixEventPort& events() { return io_->unixEventPort; }

 private:
  using Clock = std::chrono::steady_clock;

  void add(std::function<void()> task);
  bool on_loop() const { return std::this_thread::get_id() == thread_.get_id(); }
  void main(std::promise<void>& started);
  void run_until_traffic(kj::WaitScope& scope);
  kj::Promise<void> watch(kj::UnixEventPort::FdObserver& observer);
  void drain_event_fd();
  void run_posted();
  void taskFailed(kj::Exception&& exception) override;

  OnText on_error_, on_lost_;
  const std::chrono::microseconds spin_time_;
  int event_fd_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
  kj::AsyncIoContext* io_ = nullptr;           // the rest: the loop's
  kj::TaskSet* tasks_ = nullptr;
  kj::PromiseFulfiller<void>* traffic_ = nullptr;  // null while nobody waits for it
  Clock::time_point spin_until_;
  bool quit_ = false;
  std::thread thread_;
};

}  // namespace actorflow
