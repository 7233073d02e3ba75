// Tensors that a device still reads after the call that began it has returned.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

#include "dataflow/values/tensor.h"

namespace actorflow {

// Holds each tensor until its event has passed, so that nobody gets or changes its memory meanwhile.
// Events pass in the order of the launches. An Event is movable and has passed() and wait().
// Thread-safe.
template <class Event>
class InFlight {
 public:
  // When more than `max_bytes` are held, launching waits for the oldest.
  explicit InFlight(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Calls begin(), which begins the reading and returns the event that ends it. If it throws, nothing
  // reads.
  template <class Begin>
  void launch(const Tensor& tensor, const Begin& begin) {
    const std::lock_guard lock(mutex_);
    release_oldest_passed();
    // A place first: what has begun must be held.
    Held& held = held_.emplace_back();
    try {
      held.done.emplace(begin());
    } catch (...) {
      held_.pop_back();
      throw;
    }
    held.tensor = tensor;
    bytes_ += tensor.size_bytes();
    while (bytes_ > max_bytes_ && held_.size() > 1) {
      held_.front().done->wait();
      release_oldest();
    }
  }

  // Drops the tensors whose events have passed.
  void release_passed() {
    const std::lock_guard lock(mutex_);
    release_oldest_passed();
  }

 private:
  struct Held {
    Tensor tensor;
    std::optional<Event> done;
  };

  void release_oldest_passed() {
    while (!held_.empty() && held_.front().done->passed()) release_oldest();
  }
  void release_oldest() {
    bytes_ -= held_.front().tensor.size_bytes();
    held_.pop_front();
  }

  const std::size_t max_bytes_;
  std::mutex mutex_;
  std::deque<Held> held_;  // the oldest first
  std::size_t bytes_ = 0;
};

}  // namespace actorflow
