// The parts of one kernel, as the threads of a team share them.
#pragma once

#include <sched.h>

#include <atomic>
#include <exception>
#include <functional>

#include "kernels/core/computing.h"

namespace actorflow {

// Thread-safe. A helper that comes when all parts are taken touches only the counter, so the caller need
// not wait for it. REQUIRES: `part` outlives wait().
class TeamParts {
 public:
  TeamParts(int count, const std::function<void(int)>& part) : count_(count), part_(part) {}

  bool all_taken() const { return next_.load(std::memory_order_relaxed) >= count_; }

  // Computes parts until all are taken.
  void work() {
    for (int i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) {
      const Computing there(computing_);
      try {
        part_(i);
      } catch (...) {
        if (!failed_.exchange(true)) error_ = std::current_exception();
      }
      done_.fetch_add(1, std::memory_order_release);
    }
  }

  // Spins: helpers have begun the parts that are left, and soon finish them. Throws the exception of the
  // first part that failed.
  void wait() const {
    while (done_.load(std::memory_order_acquire) < count_) sched_yield();
    if (failed_) std::rethrow_exception(error_);
  }

 private:
  const int count_;
  const std::function<void(int)>& part_;
  const Computing* const computing_ = Computing::on_this_thread();
  std::atomic<int> next_{0};
  std::atomic<int> done_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;  // read after done_
};

}  // namespace actorflow
