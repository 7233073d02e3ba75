// Threads of a program that fill queues, as TensorFlow's QueueRunner.
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

// Ends a group of threads together; the first error counts. Thread-safe.
class RunnerCoordinator {
 public:
  void request_stop(std::exception_ptr error = nullptr);
  bool should_stop() const;
  void wait_for_stop() const;
  // Throws the first error that was given to a request to stop, if there is one.
  void rethrow_error() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable stopped_;
  bool stop_ = false;
  std::exception_ptr error_;
};

// The ops that fill one queue, a thread for each. Adds ops to the queue's graph, so make it before the
// session.
class QueueRunner {
 public:
  QueueRunner(const Queue& queue, std::vector<Output> enqueue_ops);

 private:
  friend class RunningQueueRunners;
  std::vector<Output> enqueue_ops_;
  Output close_, cancel_;
};

// The running threads. A thread repeats its op until its input is over (out_of_range), its queue is
// closed or the session ends (cancelled), or the coordinator stops. The last thread whose input is over
// closes the queue. When the coordinator stops, the queues are closed and blocked enqueues cancelled.
// Any other error stops the coordinator.
class RunningQueueRunners {
 public:
  RunningQueueRunners(Session& session, RunnerCoordinator& coordinator,
                      std::vector<QueueRunner> runners);
  RunningQueueRunners(RunningQueueRunners&&) noexcept;
  RunningQueueRunners& operator=(RunningQueueRunners&&) noexcept;
  ~RunningQueueRunners();  // stops

  // Waits until all threads have ended by themselves, then throws the first error, if any.
  void join();
  // Stops the threads, then does as join().
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Throws resource_exhausted, and stops the coordinator, if the machine starts no such number of threads.
// REQUIRES: session and coordinator outlive the result.
RunningQueueRunners start_queue_runners(Session& session, RunnerCoordinator& coordinator,
                                        std::vector<QueueRunner> runners);

}  // namespace actorflow
