// A thread with kj's event loop, and the way into it. Internal to schema/: includes kj.
#pragma once

#include <kj/async-io.h>
#include <kj/async-unix.h>

#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace actorflow {

// Everything of kj's belongs to the loop's thread: create, use and destroy it there. Tasks that are
// posted together cost one wake-up.
class IoLoop : private kj::TaskSet::ErrorHandler {
 public:
  // `on_error` hears, on the loop, of exceptions that nobody else has caught.
  explicit IoLoop(std::function<void(const std::string&)> on_error);
  // Waits for the thread. What belongs to the loop must have been destroyed by a last run().
  ~IoLoop();
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  // Any thread: runs the task on the loop, in the order of the calls.
  void post(std::function<void()> task);
  // Any thread: runs the task on the loop and waits; at once if this is the loop's thread. Throws what
  // the task throws.
  void run(const std::function<void()>& task);

  // On the loop only. The task runs after what runs now: the way to destroy the object whose callback
  // is on the stack.
  void later(std::function<void()> task);
  // Keeps the promise going.
  void spawn(kj::Promise<void> promise) { tasks_->add(kj::mv(promise)); }
  kj::Timer& timer() { return io_->provider->getTimer(); }
  kj::Network& network() { return io_->provider->getNetwork(); }
  kj::LowLevelAsyncIoProvider& sockets() { return *io_->lowLevelProvider; }

 private:
  void main(std::promise<void>& started);
  kj::Promise<void> watch(kj::UnixEventPort::FdObserver& observer);
  void run_posted();
  void taskFailed(kj::Exception&& exception) override;

  std::function<void(const std::string&)> on_error_;
  int event_fd_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
  kj::AsyncIoContext* io_ = nullptr;           // the rest: the loop's
  kj::TaskSet* tasks_ = nullptr;
  kj::PromiseFulfiller<void>* quit_ = nullptr;
  std::thread thread_;
};

}  // namespace actorflow
