#include "actors/runtime/scheduler_team.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <caf/make_counted.hpp>
#include <caf/ref_counted.hpp>
#include <caf/resumable.hpp>
#include <exception>

#include "actors/runtime/scheduler.h"
#include "kernels/core/computing.h"

namespace actorflow {
namespace {

// The parts of one kernel. A helper that comes when all parts are taken touches only the counter, so the
// caller need not wait for it.
class Parts final : public caf::resumable, public caf::ref_counted {
 public:
  Parts(int count, const std::function<void(int)>& part) : count_(count), part_(part) {}

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

  // Spins: helpers have begun the parts that are left, and soon finish them.
  void wait() const {
    while (done_.load(std::memory_order_acquire) < count_) sched_yield();
    if (failed_) std::rethrow_exception(error_);
  }

  resume_result resume(caf::execution_unit*, std::size_t) override {
    work();
    return done;
  }
  void intrusive_ptr_add_ref_impl() override { intrusive_ptr_add_ref(this); }
  void intrusive_ptr_release_impl() override { intrusive_ptr_release(this); }

 private:
  const int count_;
  const std::function<void(int)>& part_;
  const Computing* const computing_ = Computing::on_this_thread();
  std::atomic<int> next_{0};
  std::atomic<int> done_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;  // of the first that failed; read after done_
};

}  // namespace

// Asks busy threads, too: one that becomes free meanwhile takes a part. But where clients compute on
// every core, each keeps to its own parts.
void SchedulerTeam::run(int parts, const std::function<void(int)>& part) {
  const int others = scheduler_.helpers() > 0 ? static_cast<int>(scheduler_.num_workers()) - 1 : 0;
  const int helpers = std::min(parts - 1, others);
  if (helpers <= 0) {
    for (int i = 0; i < parts; ++i) part(i);
    return;
  }
  const auto shared = caf::make_counted<Parts>(parts, part);
  for (int i = 0; i < helpers; ++i) {
    caf::intrusive_ptr_add_ref(shared.get());  // the queue's
    scheduler_.enqueue_piece(shared.get());
  }
  shared->work();
  shared->wait();
}

}  // namespace actorflow
