#include "schema/io/io_loop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "dataflow/values/error.h"
#include "schema/io/block_signals.h"

namespace actorflow {
namespace {

// Look for I/O after so many events even if more events are ready: a short message must not wait until
// a long stream has ended.
constexpr unsigned events_per_poll = 64;

int make_event_fd() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0)
    throw Error(Code::resource_exhausted,
                std::string("cannot start a network thread: ") + std::strerror(errno));
  return fd;
}

}  // namespace

IoLoop::IoLoop(OnText on_error, std::int64_t spin_us, OnText on_lost)
    : on_error_(std::move(on_error)),
      on_lost_(std::move(on_lost)),
      spin_time_(spin_us),
      event_fd_(make_event_fd()) {
  try {
    const auto started = std::make_shared<std::promise<void>>();
    thread_ = std::thread([this, started] { main(*started); });
    started->get_future().get();
  } catch (const std::exception& error) {
    if (thread_.joinable()) thread_.join();
    close(event_fd_);
    throw Error(Code::resource_exhausted, std::string("cannot start a network thread: ") + error.what());
  }
}

IoLoop::~IoLoop() {
  post([this] {
    quit_ = true;
    if (traffic_) traffic_->fulfill();
  });
  thread_.join();
  close(event_fd_);
}

void IoLoop::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
    if (posted_.size() > 1) return;  // somebody has woken the loop already
  }
  if (on_loop()) try {
      return add([this] { run_posted(); });
    } catch (...) {  // without memory for that the loop wakes itself
    }
  const std::uint64_t one = 1;
  // Fails only where the counter is full, and then the loop is awake.
  if (write(event_fd_, &one, sizeof one) < 0) return;
}

void IoLoop::run(const std::function<void()>& task) {
  if (on_loop()) return task();
  const auto done = std::make_shared<std::promise<void>>();  // the loop may leave it after us
  auto future = done->get_future();
  post([&task, done] {
    try {
      task();
      done->set_value();
    } catch (...) {
      done->set_exception(std::current_exception());
    }
  });
  future.get();
}

void IoLoop::later(std::function<void()> task) noexcept {
  KJ_IF_MAYBE (exception, kj::runCatchingExceptions([&] { add(std::move(task)); }))
    lost("what it was to do later", *exception);
}

void IoLoop::add(std::function<void()> task) {
  tasks_->add(
      kj::evalLater([task = std::move(task)] { task(); }).catch_(or_lost("what was left for later")));
}

void IoLoop::traffic() {
  if (spin_time_.count() == 0) return;
  spin_until_ = Clock::now() + spin_time_;
  if (traffic_) traffic_->fulfill();
}

void IoLoop::main(std::promise<void>& started) {
  block_signals();
  try {
    auto io = kj::setupAsyncIo();
    io.waitScope.setBusyPollInterval(events_per_poll);
    kj::TaskSet tasks(*this);
    kj::UnixEventPort::FdObserver observer(io.unixEventPort, event_fd_,
                                           kj::UnixEventPort::FdObserver::OBSERVE_READ);
    io_ = &io;
    tasks_ = &tasks;
    const auto watching = watch(observer).eagerlyEvaluate(or_lost("hearing what it is to do"));
    started.set_value();
    while (!quit_) {
      run_until_traffic(io.waitScope);
      // Where message follows message, something is always ready, and other I/O would not be seen.
      io.unixEventPort.poll();
    }
  } catch (const std::exception&) {
    // After the start nothing throws here: every event's exception goes to its own promise.
    started.set_exception(std::current_exception());
  }
}

// Runs what is ready until there is traffic, or the end comes; sleeps only when it has spun for its
// time.
void IoLoop::run_until_traffic(kj::WaitScope& scope) {
  auto traffic = kj::newPromiseAndFulfiller<void>();
  traffic_ = traffic.fulfiller.get();
  while (Clock::now() < spin_until_ && !traffic.promise.poll(scope)) {
  }
  traffic.promise.wait(scope);
  traffic_ = nullptr;
}

kj::Promise<void> IoLoop::watch(kj::UnixEventPort::FdObserver& observer) {
  return observer.whenBecomesReadable().then([this, &observer] {
    // Edge-triggered: armed again before the queue is emptied, or a wake-up would be lost.
    auto next = watch(observer);
    drain_event_fd();
    run_posted();
    return next;
  });
}

void IoLoop::drain_event_fd() {
  std::uint64_t wakes = 0;
  if (read(event_fd_, &wakes, sizeof wakes) < 0 && errno != EAGAIN)
    on_error_(std::string("the network thread's event counter: ") + std::strerror(errno));
}

void IoLoop::run_posted() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  if (!tasks.empty()) traffic();
  for (const auto& task : tasks)
    KJ_IF_MAYBE (exception, kj::runCatchingExceptions([&] { task(); }))
      lost("what it was told to do", *exception);
}

void IoLoop::lost(const std::string& what, const kj::Exception& why) noexcept {
  const std::string reason =
      "the network's thread could not go on with " + what + ": " + why.getDescription().cStr();
  if (on_lost_) return on_lost_(reason);
  std::fprintf(stderr, "error: this process ends, because %s\n", reason.c_str());
  std::_Exit(EXIT_FAILURE);  // without destructors: other threads still use everything
}

void IoLoop::taskFailed(kj::Exception&& exception) { on_error_(exception.getDescription().cStr()); }

}  // namespace actorflow
