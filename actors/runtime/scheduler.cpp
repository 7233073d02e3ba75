#include "actors/runtime/scheduler.h"

#include <algorithm>
#include <caf/actor_system.hpp>
#include <caf/resumable.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "actors/runtime/exit_status.h"
#include "actors/runtime/thread_unit.h"
#include "dataflow/values/error.h"
#include "kernels/core/crash_report.h"
#include "kernels/core/polite_search.h"

namespace actorflow {
namespace {

// How long a worker looks for work before it sleeps: longer than the gap between two kernels of a step.
constexpr std::chrono::microseconds search_time{500};
constexpr std::chrono::milliseconds rescue_interval{50};
// For how long it is believed that others want the cores.
constexpr std::chrono::milliseconds memory_of_others{100};

caf::resumable* pop(ReadyQueue& queue, std::atomic<int>& size) {
  auto* first = queue.pop();
  if (first) size.fetch_sub(1, std::memory_order_relaxed);
  return first;
}

}  // namespace

void run_on(caf::execution_unit& unit, caf::resumable* actor, std::size_t max_messages) {
  switch (actor->resume(&unit, max_messages)) {
    case caf::resumable::resume_later:
      return unit.exec_later(actor);
    case caf::resumable::done:
    case caf::resumable::awaiting_message:
      return caf::intrusive_ptr_release(actor);
    case caf::resumable::shutdown_execution_unit:  // CAF's own workers only
      return;
  }
}

Scheduler::Unit::Unit(Scheduler& s, void (Scheduler::*to)(caf::resumable*) noexcept)
    : caf::execution_unit(&s.system()), scheduler(s), enqueue(to) {}

Scheduler::Scheduler(caf::actor_system& system)
    : TaskScheduler(system),
      actor_unit_(*this, &Scheduler::enqueue),
      piece_unit_(*this, &Scheduler::enqueue_piece) {}

Scheduler::~Scheduler() { end_threads(); }

TaskScheduler& TaskScheduler::of(caf::actor_system& system) {
  return static_cast<TaskScheduler&>(system.scheduler());
}

void Scheduler::enqueue(caf::resumable* actor) noexcept {
  const std::lock_guard lock(mutex_);
  actors_.push(actor);
  num_actors_.fetch_add(1, std::memory_order_relaxed);
  wake_one(static_cast<int>(workers_.size()));
}

void Scheduler::enqueue_piece(caf::resumable* piece) noexcept {
  const std::lock_guard lock(mutex_);
  pieces_.push(piece);
  num_pieces_.fetch_add(1);  // before helpers() looks: see client_computes()
  wake_one(takers_of_pieces());
}

// When a client stops computing, a worker may wake in its place and take the pieces that are left.
void Scheduler::client_computes(bool computes) {
  clients_ += computes ? 1 : -1;
  if (computes || num_pieces_ == 0) return;
  const std::lock_guard lock(mutex_);
  wake_one(takers_of_pieces());
}

caf::resumable* Scheduler::take_piece() {
  if (num_pieces_.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  return pop(pieces_, num_pieces_);
}

// Ends without destructors: other threads still use everything.
void Scheduler::end_task(const std::string& reason) {
  std::fprintf(stderr, "error: this process ends, because %s\n", reason.c_str());
  std::_Exit(lost_task);
}

int Scheduler::helpers() const { return std::max(0, static_cast<int>(num_workers()) - clients_.load()); }

// At least one worker, even if clients take every place: for the pieces that they leave behind.
int Scheduler::takers_of_pieces() const { return std::max(helpers(), 1); }

// Wakes one of the first `workers` workers, unless one of them is already looking for work.
void Scheduler::wake_one(int workers) {
  const auto end = workers_.begin() + workers;
  const auto in = [](State state) { return [state](const auto& w) { return w->state == state; }; };
  if (std::any_of(workers_.begin(), end, in(State::searching))) return;
  if (const auto asleep = std::find_if(workers_.begin(), end, in(State::asleep)); asleep != end)
    (*asleep)->woken.notify_one();
}

caf::resumable* Scheduler::take(int index) {
  if (auto* actor = pop(actors_, num_actors_)) return actor;
  return index < takers_of_pieces() ? pop(pieces_, num_pieces_) : nullptr;
}

bool Scheduler::may_have(int index) const {
  return num_actors_.load(std::memory_order_relaxed) > 0 ||
         (num_pieces_.load(std::memory_order_relaxed) > 0 && index < takers_of_pieces());
}

void Scheduler::search(int index) {
  PoliteSearch look(search_time);
  while (!may_have(index) && look.goes_on()) {
  }
  if (look.others_ran()) saw_wanted_core();
}

void Scheduler::saw_wanted_core() {
  cores_wanted_until_.store(std::chrono::steady_clock::now() + memory_of_others,
                            std::memory_order_relaxed);
}

std::chrono::nanoseconds Scheduler::brief_limit() const {
  const bool wanted =
      std::chrono::steady_clock::now() < cores_wanted_until_.load(std::memory_order_relaxed);
  return wanted ? ActivationTime::limit_on_wanted_cores : ActivationTime::limit;
}

caf::resumable* Scheduler::next(int index) {
  Worker& self = *workers_[static_cast<std::size_t>(index)];
  std::unique_lock lock(mutex_);
  auto* job = take(index);
  while (!job && !stopping_) {
    self.state = State::searching;
    lock.unlock();
    search(index);
    lock.lock();
    job = take(index);
    if (job || stopping_) break;
    self.state = State::asleep;
    self.woken.wait(lock);
    job = take(index);
  }
  self.state = State::busy;
  // This worker may have been the only one that looked for work, and there is more.
  if (job && !(actors_.empty() && pieces_.empty())) wake_one(static_cast<int>(workers_.size()));
  return job;
}

void Scheduler::work(int index) {
  const SignalStack stack;
  system().thread_started();
  while (auto* job = next(index)) run_on(actor_unit_, job, max_throughput());
  system().thread_terminates();
}

void Scheduler::rescue_light_actors() {
  system().thread_started();
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, rescue_interval, [this] { return stopping_; })) {
    const auto rescued = stranded();
    if (rescued.empty()) continue;
    lock.unlock();
    {
      const Attendance attendance(*this, Duty::light);
      for (auto* actor : rescued) attendance.unit().exec_later(actor);
      attendance.unit().run_ready();
    }
    lock.lock();
  }
  lock.unlock();
  system().thread_terminates();
}

std::vector<caf::resumable*> Scheduler::stranded() {
  std::vector<caf::resumable*> all;
  for (auto* unit : units_in_use_) unit->give_up_stranded(all);
  const bool all_busy =
      std::ranges::all_of(workers_, [](const auto& w) { return w->state == State::busy; });
  if (all_busy) num_actors_.fetch_sub(actors_.take_light(all), std::memory_order_relaxed);
  return all;
}

void Scheduler::init(caf::actor_system_config& config) {
  TaskScheduler::init(config);
  for (std::size_t i = 0; i < num_workers(); ++i) workers_.push_back(std::make_unique<Worker>());
  std::size_t made = 0;
  try {
    for (std::size_t i = 0; i < num_workers(); ++i, ++made)
      workers_[i]->thread = thread([this, i] { work(static_cast<int>(i)); });
    timer_ = thread([this] { clock_.run_dispatch_loop(); });
    rescuer_ = thread([this] { rescue_light_actors(); });
  } catch (const std::system_error& error) {
    throw Error(Code::resource_exhausted,
                fmt::format("expected to start {} threads that compute and 2 others, but after {} the "
                            "system starts no more ({}); ask for fewer, or raise what limits this user "
                            "(ulimit -u) or container",
                            num_workers(), made, error.what()));
  }
}

std::thread Scheduler::thread(std::function<void()> body) {
  return std::thread([this, body = std::move(body)] {
    std::unique_lock lock(mutex_);
    begun_.wait(lock, [this] { return started_ || stopping_; });
    const bool begins = started_;
    lock.unlock();
    if (begins) body();
  });
}

void Scheduler::start() {
  {
    const std::lock_guard lock(mutex_);
    started_ = true;
    begun_.notify_all();
  }
  abstract_coordinator::start();
}

void Scheduler::stop() {
  stop_actors();
  end_threads();
}

void Scheduler::end_threads() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    begun_.notify_all();
    for (const auto& worker : workers_) worker->woken.notify_one();
    stopped_.notify_one();
  }
  for (const auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
  if (rescuer_.joinable()) rescuer_.join();
  for (auto* queue : {&actors_, &pieces_})
    while (auto* left = queue->pop()) cleanup_and_release(left);
  if (!timer_.joinable()) return;
  clock_.cancel_dispatch_loop();
  timer_.join();
}

std::unique_ptr<ThreadUnit> Scheduler::take_unit(Duty duty) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(idle_units_, duty, [](const auto& unit) { return unit->duty(); });
  std::unique_ptr<ThreadUnit> unit;
  if (found == idle_units_.end()) {
    unit = std::make_unique<ThreadUnit>(*this, duty);
  } else {
    unit = std::move(*found);
    idle_units_.erase(found);
  }
  units_in_use_.push_back(unit.get());
  return unit;
}

void Scheduler::put_back(std::unique_ptr<ThreadUnit> unit) {
  const std::lock_guard lock(mutex_);
  std::erase(units_in_use_, unit.get());
  idle_units_.push_back(std::move(unit));
}

}  // namespace actorflow
