#include "actors/named/send_window.h"

#include <fmt/format.h>

#include <utility>

#include "dataflow/values/bounded_wait.h"

namespace actorflow {

bool SendWindow::has_room(std::size_t bytes) const {
  return messages_ == 0 || (messages_ < options_.window_messages && bytes_ <= options_.window_bytes &&
                            bytes <= options_.window_bytes - bytes_);
}

// Memory is taken before anything is counted.
SendWindow::ShareRef SendWindow::take_locked(std::size_t bytes) {
  ++messages_;
  bytes_ += bytes;
  try {
    return std::make_shared<Share>(shared_from_this(), bytes);
  } catch (...) {
    --messages_;
    bytes_ -= bytes;
    throw;
  }
}

SendWindow::ShareRef SendWindow::take(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  throw_if_error(closed_);
  if (!has_room(bytes)) throw_full();
  return take_locked(bytes);
}

SendWindow::ShareRef SendWindow::wait_for(Runtime& runtime, std::size_t bytes) {
  ShareRef share;
  clients_.wait(runtime, mutex_, runtime.clock().now() + bounded_wait(options_.patience), [&] {
    if (share || !closed_.ok()) return true;
    if (has_room(bytes)) share = take_locked(bytes);
    return bool(share);
  });
  const std::scoped_lock lock(mutex_);
  throw_if_error(closed_);
  if (!share) throw_full();
  return share;
}

void SendWindow::throw_failure() {
  const std::scoped_lock lock(mutex_);
  throw_if_error(std::exchange(failure_, {}));
}

void SendWindow::drain(Runtime& runtime, std::chrono::milliseconds timeout) {
  const bool empty = clients_.wait(runtime, mutex_, runtime.clock().now() + bounded_wait(timeout),
                                   [this] { return messages_ == 0 || !closed_.ok(); });
  const std::scoped_lock lock(mutex_);
  throw_if_error(std::exchange(failure_, {}));
  throw_if_error(closed_);
  if (!empty)
    throw Error(Code::deadline_exceeded, fmt::format("{} has not handled {} messages after {} ms", whom_,
                                                     messages_, timeout.count()));
}

void SendWindow::failed(const Status& why) {
  const std::scoped_lock lock(mutex_);
  if (failure_.ok()) failure_ = why;
}

void SendWindow::close(const Status& why) {
  const std::scoped_lock lock(mutex_);
  closed_ = why;
  clients_.wake_all();
}

void SendWindow::throw_full() const {
  throw Error(
      Code::resource_exhausted,
      fmt::format("{} does not keep up: it has {} messages of {} bytes that it has not handled or "
                  "answered (ActorRefOptions)",
                  whom_, messages_, bytes_));
}

void SendWindow::release(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  --messages_;
  bytes_ -= bytes;
  clients_.wake_all();
}

}  // namespace actorflow
