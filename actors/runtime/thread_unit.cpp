#include "actors/runtime/thread_unit.h"

#include <caf/actor_system.hpp>
#include <caf/logger.hpp>
#include <chrono>
#include <utility>

#include "actors/runtime/scheduler.h"
#include "actors/runtime/thread_affinity.h"
#include "kernels/core/polite_search.h"

namespace actorflow {
namespace {

using Time = std::chrono::steady_clock::time_point;

// Messages that an actor may handle before others have their turn.
constexpr std::size_t max_throughput = 50;
// How long a thread polls before it sleeps: about what falling asleep and waking up costs, so that it
// never loses more than twice the better choice (Karlin et al., competitive snoopy caching, 1988).
constexpr std::chrono::microseconds unit_search_time{20};

thread_local ThreadUnit* attended = nullptr;

}  // namespace

ThreadUnit::ThreadUnit(Scheduler& scheduler, Duty duty)
    : caf::execution_unit(&scheduler.system()), scheduler_(scheduler), duty_(duty) {}

ThreadUnit* ThreadUnit::current() { return attended; }

ThreadUnit* ThreadUnit::current_for_compute() {
  return attended && attended->duty_ == Duty::compute ? attended : nullptr;
}

void ThreadUnit::exec_later(caf::resumable* actor) noexcept {
  if (!push(actor)) scheduler_.enqueue(actor);
}

// False if nobody attends the unit.
bool ThreadUnit::push(caf::resumable* actor) noexcept {
  const std::lock_guard lock(mutex_);
  if (!open_) return false;
  ready_.push(actor);
  news_.store(true, std::memory_order_relaxed);
  if (asleep_) woken_.notify_one();
  return true;
}

ThreadUnit::WhenIdle::WhenIdle(ThreadUnit& of) : caf::execution_unit(&of.system()), unit(of) {}

// `idle_` is read without the lock: if the thread has just found work, the actor is only delayed.
void ThreadUnit::WhenIdle::exec_later(caf::resumable* actor) noexcept {
  if (!unit.idle_.load(std::memory_order_relaxed) || !unit.push(actor)) unit.scheduler_.enqueue(actor);
}

void ThreadUnit::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  news_.store(true, std::memory_order_relaxed);
  if (asleep_) woken_.notify_one();
}

caf::resumable* ThreadUnit::take() {
  const std::lock_guard lock(mutex_);
  if (stopped_ || ready_.empty()) return nullptr;
  ++taken_;
  return ready_.pop();
}

void ThreadUnit::give_up_stranded(std::vector<caf::resumable*>& to) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(taken_before_, taken_) == taken_) ready_.take_light(to);
}

void ThreadUnit::run_ready() {
  while (auto* actor = take()) run(actor);
}

bool ThreadUnit::run_until_stopped(Time end) {
  while (true) {
    news_.store(false, std::memory_order_relaxed);
    run_ready();
    idle_.store(true, std::memory_order_relaxed);
    auto* piece = search();
    if (!piece && !news_.load(std::memory_order_relaxed)) sleep(end);
    idle_.store(false, std::memory_order_relaxed);
    if (piece) run(piece);
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return true;
    }
    if (end != Time::max() && std::chrono::steady_clock::now() >= end) return false;
  }
}

caf::resumable* ThreadUnit::search() {
  if (duty_ == Duty::light) return nullptr;
  PoliteSearch look(unit_search_time);
  while (!news_.load(std::memory_order_relaxed)) {
    if (auto* piece = scheduler_.take_piece()) return piece;
    if (!look.goes_on()) break;
  }
  if (look.others_ran()) scheduler_.saw_wanted_core();
  return nullptr;
}

void ThreadUnit::sleep(Time end) {
  count_as_computing(false);
  {
    std::unique_lock lock(mutex_);
    asleep_ = true;
    const auto awaited = [this] { return stopped_ || !ready_.empty(); };
    if (end == Time::max())
      woken_.wait(lock, awaited);
    else
      woken_.wait_until(lock, end, awaited);
    asleep_ = false;
  }
  count_as_computing(true);
}

void ThreadUnit::count_as_computing(bool computes) {
  if (duty_ == Duty::compute) scheduler_.client_computes(computes);
}

// On the network's thread a computing actor has one turn; the workers take over one that has more to
// do.
void ThreadUnit::run(caf::resumable* actor) {
  const bool may_stay = duty_ == Duty::compute || dynamic_cast<LightActor*>(actor);
  if (may_stay) return run_on(*this, actor, max_throughput);
  if (actor->resume(this, max_throughput) == caf::resumable::resume_later)
    scheduler_.enqueue(actor);
  else
    caf::intrusive_ptr_release(actor);
}

void ThreadUnit::open() {
  count_as_computing(true);
  const std::lock_guard lock(mutex_);
  open_ = true;
  stopped_ = false;
}

void ThreadUnit::close() {
  count_as_computing(false);
  while (auto* left = close_or_take()) scheduler_.enqueue(left);
}

caf::resumable* ThreadUnit::close_or_take() {
  const std::lock_guard lock(mutex_);
  open_ = false;
  return ready_.pop();
}

Attendance::Attendance(Scheduler& scheduler, Duty duty)
    : scheduler_(scheduler), unit_(scheduler.take_unit(duty)), outer_(attended) {
  unit_->open();
  attended = unit_.get();
}

SystemVisit::~SystemVisit() { caf::logger::set_current_actor_system(nullptr); }

Attendance::~Attendance() {
  unit_->close();
  attended = outer_;
  scheduler_.put_back(std::move(unit_));
}

}  // namespace actorflow
