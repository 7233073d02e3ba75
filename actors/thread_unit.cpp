#include "actors/thread_unit.h"

#include <caf/actor_system.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <chrono>
#include <utility>

namespace actorflow {
namespace {

// Messages that an actor may handle before others have their turn.
constexpr std::size_t max_throughput = 50;

// To look again for about as long as falling asleep and waking up costs: never more than twice the cost of
// the better choice (Karlin et al., competitive snoopy caching, 1988).
constexpr std::chrono::microseconds spin_time{20};

thread_local ThreadUnit* attended = nullptr;

}  // namespace

ThreadUnit* ThreadUnit::current() { return attended; }

ThreadUnit* ThreadUnit::current_for_compute() {
  return attended && attended->duty_ == Duty::compute ? attended : nullptr;
}

void ThreadUnit::exec_later(caf::resumable* actor) {
  {
    const std::lock_guard lock(mutex_);
    if (open_) {
      ready_.push_back(actor);
      news_.store(true, std::memory_order_relaxed);
      if (asleep_) woken_.notify_one();
      return;
    }
  }
  system().scheduler().enqueue(actor);
}

void ThreadUnit::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  news_.store(true, std::memory_order_relaxed);
  if (asleep_) woken_.notify_one();
}

void ThreadUnit::run_ready() {
  std::unique_lock lock(mutex_);
  while (!ready_.empty()) {
    auto* actor = ready_.front();
    ready_.pop_front();
    lock.unlock();
    run(actor);
    lock.lock();
  }
}

void ThreadUnit::run_until_stopped() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (ready_.empty()) {
      wait(lock);
      continue;
    }
    auto* actor = ready_.front();
    ready_.pop_front();
    lock.unlock();
    run(actor);
    lock.lock();
  }
}

void ThreadUnit::wait(std::unique_lock<std::mutex>& lock) {
  news_.store(false, std::memory_order_relaxed);
  lock.unlock();
  const auto enough = std::chrono::steady_clock::now() + spin_time;
  while (!news_.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < enough)
    __builtin_ia32_pause();
  lock.lock();
  asleep_ = true;
  woken_.wait(lock, [this] { return stopped_ || !ready_.empty(); });
  asleep_ = false;
}

void ThreadUnit::run(caf::resumable* actor) {
  switch (actor->resume(this, max_throughput)) {
    case caf::resumable::resume_later:
      return exec_later(actor);
    case caf::resumable::done:
    case caf::resumable::awaiting_message:
      return caf::intrusive_ptr_release(actor);
    case caf::resumable::shutdown_execution_unit:  // CAF's own workers only
      return;
  }
}

void ThreadUnit::open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
  stopped_ = false;
}

void ThreadUnit::close() {
  std::deque<caf::resumable*> left;
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
    left.swap(ready_);
  }
  for (auto* actor : left) system().scheduler().enqueue(actor);
}

ThreadUnits::Attendance::Attendance(ThreadUnits& units, Duty duty)
    : units_(units), unit_(units.take(duty)), outer_(attended) {
  unit_->open();
  attended = unit_.get();
}

ThreadUnits::Attendance::~Attendance() {
  unit_->close();
  attended = outer_;
  units_.put_back(std::move(unit_));
}

std::unique_ptr<ThreadUnit> ThreadUnits::take(Duty duty) {
  const std::lock_guard lock(mutex_);
  for (auto& unit : idle_)
    if (unit->duty_ == duty) {
      std::swap(unit, idle_.back());
      auto taken = std::move(idle_.back());
      idle_.pop_back();
      return taken;
    }
  return std::make_unique<ThreadUnit>(system_, duty);
}

void ThreadUnits::put_back(std::unique_ptr<ThreadUnit> unit) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(unit));
}

}  // namespace actorflow
