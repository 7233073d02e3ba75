// Threads of a program that fill queues until they are told to stop, as TensorFlow's QueueRunner.
//
//   QueueRunner runner(queue, {queue.enqueue(example)});
//   Session session(target, graph);
//   RunnerCoordinator coordinator;
//   RunningQueueRunners running = start_queue_runners(session, coordinator, {runner});
//   while (!coordinator.should_stop()) session.run(step);   // out_of_range: the input is over
//   running.stop();
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/client/session.h"
#include "dataflow/ops/queue_ops.h"

namespace actorflow {

// Tells a group of threads to end together; the first error counts. Thread-safe.
class RunnerCoordinator {
 public:
  void request_stop(std::exception_ptr error = nullptr);
  bool should_stop() const;
  void wait_for_stop() const;
  // Throws the first error with which a stop was requested, if there is one.
  void rethrow_error() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable stopped_;
  bool stop_ = false;
  std::exception_ptr error_;
};

// What fills one queue: a thread for each of the ops. Adds ops to the queue's graph, so it is made before
// the session.
class QueueRunner {
 public:
  QueueRunner(const Queue& queue, std::vector<Output> enqueue_ops);

 private:
  friend class RunningQueueRunners;
  std::vector<Output> enqueue_ops_;
  Output close_, cancel_;
};

// The threads at work. A thread runs its op again and again. It ends when its input is over (out_of_range),
// upon which the last one closes the queue, when the queue is closed or the session ends (cancelled), and when
// the coordinator stops, upon which the queues are closed and blocked enqueues cancelled. Any other error stops
// the coordinator.
class RunningQueueRunners {
 public:
  RunningQueueRunners(Session& session, RunnerCoordinator& coordinator, std::vector<QueueRunner> runners);
  RunningQueueRunners(RunningQueueRunners&&) noexcept;
  RunningQueueRunners& operator=(RunningQueueRunners&&) noexcept;
  ~RunningQueueRunners();  // stops

  // Waits until all threads have ended by themselves, then throws the first error, if there is one.
  void join();
  // Has them end, then as join().
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// REQUIRES: session and coordinator outlive the result.
RunningQueueRunners start_queue_runners(Session& session, RunnerCoordinator& coordinator,
                                        std::vector<QueueRunner> runners);

}  // namespace actorflow
