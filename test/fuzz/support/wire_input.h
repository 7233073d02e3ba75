// A fake connection for targets behind a port.
#pragma once

#include <kj/async-io.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "test/fuzz/support/target.h"

namespace actorflow::fuzz {

struct PeerEvents {
  std::function<void()> drained = [] {};  // its end has been read
  std::function<void()> closed = [] {};
};

// A peer that has written the input and nothing more, and accepts everything that it is sent.
class Peer final : public kj::AsyncIoStream {
 public:
  explicit Peer(Input input, PeerEvents events = {}) : left_(input), events_(std::move(events)) {}
  ~Peer() { events_.closed(); }

  kj::Promise<std::size_t> tryRead(void* buffer, std::size_t min_bytes, std::size_t max_bytes) override {
    // Half of what fits, so that messages arrive in pieces.
    const std::size_t size = std::min(left_.size(), std::max(min_bytes, max_bytes / 2));
    if (size > 0) std::memcpy(buffer, left_.data(), size);
    left_ = left_.subspan(size);
    if (size < min_bytes) events_.drained();
    return size;
  }
  kj::Promise<void> write(const void*, std::size_t) override { return kj::READY_NOW; }
  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>>) override {
    return kj::READY_NOW;
  }
  kj::Promise<void> whenWriteDisconnected() override { return kj::NEVER_DONE; }
  void shutdownWrite() override {}

 private:
  Input left_;
  PeerEvents events_;
};

// Something that happens on another thread, once.
class Signal {
 public:
  void happened() {
    const std::lock_guard lock(mutex_);
    happened_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return happened_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool happened_ = false;
};

}  // namespace actorflow::fuzz
