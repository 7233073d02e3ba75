#include "actors/client/queue_runner.h"

#include <atomic>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace actorflow {
namespace {

void run_target(Session& session, const Output& target) {
  session.run(std::vector<Output>{}, {}, {target});
}

// Runs an op at the end, where nothing can be done about an error.
void try_target(Session& session, const Output& target) {
  try {
    run_target(session, target);
  } catch (const std::exception&) {
    // The session or the queue's task has ended, and with it all ops that waited there; or this process
    // lacks memory, which its other threads tell.
  }
}

}  // namespace

void RunnerCoordinator::request_stop(std::exception_ptr error) {
  const std::scoped_lock lock(mutex_);
  stop_ = true;
  if (!error_) error_ = std::move(error);
  stopped_.notify_all();
}

bool RunnerCoordinator::should_stop() const {
  const std::scoped_lock lock(mutex_);
  return stop_;
}

void RunnerCoordinator::wait_for_stop() const {
  std::unique_lock lock(mutex_);
  stopped_.wait(lock, [this] { return stop_; });
}

void RunnerCoordinator::rethrow_error() const {
  const std::scoped_lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

QueueRunner::QueueRunner(const Queue& queue, std::vector<Output> enqueue_ops)
    : enqueue_ops_(std::move(enqueue_ops)), close_(queue.close()), cancel_(queue.close(true)) {
  if (enqueue_ops_.empty())
    throw invalid_argument("QueueRunner of queue '" + queue.name() +
                           "': expected an enqueue op or more");
}

struct RunningQueueRunners::Impl {
  struct Filling {
    explicit Filling(QueueRunner r) : runner(std::move(r)), threads(runner.enqueue_ops_.size()) {}
    QueueRunner runner;
    std::atomic<std::size_t> threads;  // that have not ended
  };

  Impl(Session& s, RunnerCoordinator& c, std::vector<QueueRunner> all) : session(s), coordinator(c) {
    for (auto& runner : all) fillings.push_back(std::make_unique<Filling>(std::move(runner)));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { coordinator.request_stop(); }

  // Throws resource_exhausted where the machine starts no such number of threads. Those that have begun
  // end with this object: the thread that cancels what they wait for is there before them.
  void start() try {
    closer = std::jthread([this] {
      coordinator.wait_for_stop();
      for (const auto& filling : fillings) try_target(session, filling->runner.cancel_);
    });
    for (auto& filling : fillings)
      for (const auto& op : filling->runner.enqueue_ops_)
        threads.emplace_back([this, queue = filling.get(), op] { fill(*queue, op); });
  } catch (const std::system_error& error) {
    throw Error(Code::resource_exhausted,
                std::string("queue runners need a thread for each enqueue op: ") + error.what());
  }

  void fill(Filling& filling, const Output& op) {
    try {
      while (!coordinator.should_stop()) run_target(session, op);
    } catch (const Error& error) {
      if (error.code() != Code::out_of_range && error.code() != Code::cancelled)
        coordinator.request_stop(std::current_exception());
    } catch (...) {
      coordinator.request_stop(std::current_exception());
    }
    if (--filling.threads == 0) try_target(session, filling.runner.close_);
  }

  void join() {
    threads.clear();
    coordinator.rethrow_error();
  }

  Session& session;
  RunnerCoordinator& coordinator;
  std::vector<std::unique_ptr<Filling>> fillings;
  std::jthread closer;
  std::vector<std::jthread> threads;
};

RunningQueueRunners::RunningQueueRunners(Session& session, RunnerCoordinator& coordinator,
                                         std::vector<QueueRunner> runners)
    : impl_(std::make_unique<Impl>(session, coordinator, std::move(runners))) {
  impl_->start();
}
RunningQueueRunners::RunningQueueRunners(RunningQueueRunners&&) noexcept = default;
RunningQueueRunners& RunningQueueRunners::operator=(RunningQueueRunners&&) noexcept = default;
RunningQueueRunners::~RunningQueueRunners() = default;

void RunningQueueRunners::join() { impl_->join(); }
void RunningQueueRunners::stop() {
  impl_->coordinator.request_stop();
  impl_->join();
}

RunningQueueRunners start_queue_runners(Session& session, RunnerCoordinator& coordinator,
                                        std::vector<QueueRunner> runners) {
  return RunningQueueRunners(session, coordinator, std::move(runners));
}

}  // namespace actorflow
