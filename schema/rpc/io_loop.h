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

// Everything of kj's belongs to the loop's thread: create, use and destroy it there. Tasks that are
// posted together cost one wake-up, and none from the loop itself.
//
// Spinning: for a while after each message the loop looks for the next one instead of sleeping. That
// spares a wake-up per message, which is most of its way, and takes a core meanwhile.
class IoLoop : private kj::TaskSet::ErrorHandler {
 public:
  // `on_error` hears, on the loop, of exceptions that nobody else has caught. The loop spins for
  // `spin_us` after a message; 0: never.
  explicit IoLoop(std::function<void(const std::string&)> on_error, std::int64_t spin_us = 0);
  // Waits for the thread. What belongs to the loop must have been destroyed by a last run().
  ~IoLoop();
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  // Any thread: runs the task on the loop, in the order of the calls.
  void post(std::function<void()> task);
  // Any thread: the same, but on the loop's thread the task runs at once.
  void start(std::function<void()> task);
  // Any thread: runs the task on the loop and waits; at once if this is the loop's thread. Throws what
  // the task throws.
  void run(const std::function<void()>& task);

  // On the loop only. The task runs after what runs now: the way to destroy the object whose callback
  // is on the stack.
  void later(std::function<void()> task);
  // A message has come: more may follow. (That tasks are posted, the loop sees itself.)
  void traffic();
  // Keeps the promise going.
  void spawn(kj::Promise<void> promise) { tasks_->add(kj::mv(promise)); }
  kj::Timer& timer() { return io_->provider->getTimer(); }
  kj::Network& network() { return io_->provider->getNetwork(); }
  kj::LowLevelAsyncIoProvider& sockets() { return *io_->lowLevelProvider; }
  kj::UnixEventPort& events() { return io_->unixEventPort; }

 private:
  using Clock = std::chrono::steady_clock;

  bool on_loop() const { return std::this_thread::get_id() == thread_.get_id(); }
  void main(std::promise<void>& started);
  void run_until_traffic(kj::WaitScope& scope);
  kj::Promise<void> watch(kj::UnixEventPort::FdObserver& observer);
  void drain_event_fd();
  void run_posted();
  void taskFailed(kj::Exception&& exception) override;

  std::function<void(const std::string&)> on_error_;
  const std::chrono::microseconds spin_time_;
  int event_fd_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
  kj::AsyncIoContext* io_ = nullptr;           // the rest: the loop's
  kj::TaskSet* tasks_ = nullptr;
  kj::PromiseFulfiller<void>* traffic_ = nullptr;  // null while nobody wants to know
  Clock::time_point spin_until_;
  bool quit_ = false;
  std::thread thread_;
};

}  // namespace actorflow
