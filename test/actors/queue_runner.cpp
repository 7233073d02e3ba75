#include "actors/client/queue_runner.h"

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <set>
#include <string>
#include <thread>

#include "actors/input/dataset.h"
#include "kernels/ops.h"
#include "test/support/few_threads.h"
#include "test/support/sanitized.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(queue_runner)

using namespace actorflow;

namespace {

const std::vector<TensorType> one_number = {{DType::int64, {}}};

Dataset range(std::int64_t count) {
  Tensor values = Tensor::allocate(DType::int64, {count});
  std::iota(values.mutable_values<std::int64_t>().begin(), values.mutable_values<std::int64_t>().end(), 0);
  return Dataset::tensors({values});
}

Queue numbers(Graph& g, std::int64_t capacity) {
  return fifo_queue(g, {.name = "numbers", .components = one_number, .capacity = capacity});
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_end_of_the_input_closes_the_queue_when_everything_is_in) {
  Server server = Server::local();
  server.serve_input("range", range(100));
  Graph g;
  const Queue queue = numbers(g, 5);
  const Output put = queue.enqueue(iterator_get_next(g, "range", one_number));
  const QueueRunner runner(queue, {put, put, put});  // three threads
  const Output taken = queue.dequeue()[0];
  Session session(server.target(), g);
  RunnerCoordinator coordinator;
  RunningQueueRunners running = start_queue_runners(session, coordinator, {runner});
  std::set<std::int64_t> seen;
  Status status;
  while (status.ok())
    status = test::status_of([&] { seen.insert(session.run(taken).scalar<std::int64_t>()); });
  BOOST_TEST((status.code == Code::out_of_range), status.to_string());
  BOOST_TEST(seen.size() == 100u);
  running.join();
  BOOST_TEST(!coordinator.should_stop());
}

BOOST_AUTO_TEST_CASE(stopping_ends_threads_that_are_blocked) {
  Graph g;
  const Queue queue = numbers(g, 2);
  const QueueRunner runner(queue, {queue.enqueue({g.constant(std::int64_t{7})})});
  const Output size = queue.size();
  Session session(g);
  RunnerCoordinator coordinator;
  RunningQueueRunners running = start_queue_runners(session, coordinator, {runner});
  while (session.run(size).scalar<std::int64_t>() < 2) std::this_thread::yield();
  running.stop();
  BOOST_TEST(coordinator.should_stop());
}

BOOST_AUTO_TEST_CASE(runners_that_go_out_of_scope_end_too) {
  Graph g;
  const Queue queue = numbers(g, 2);
  const QueueRunner runner(queue, {queue.enqueue({g.constant(std::int64_t{7})})});
  Session session(g);
  RunnerCoordinator coordinator;
  { const RunningQueueRunners running = start_queue_runners(session, coordinator, {runner}); }
  BOOST_TEST(coordinator.should_stop());
}

BOOST_AUTO_TEST_CASE(the_first_error_stops_all_threads) {
  Graph g;
  const Queue queue = numbers(g, 2);
  const Queue others = fifo_queue(g, {.name = "others", .components = one_number, .capacity = 1});
  const QueueRunner blocked(others, {others.enqueue({g.constant(std::int64_t{7})})});
  const QueueRunner failing(queue, {queue.enqueue(iterator_get_next(g, "nobody", one_number))});
  Session session(g);
  RunnerCoordinator coordinator;
  RunningQueueRunners running = start_queue_runners(session, coordinator, {blocked, failing});
  const Status status = test::status_of([&] { running.join(); });
  BOOST_TEST((status.code == Code::failed_precondition), status.to_string());
  BOOST_TEST(status.message.find("nobody") != std::string::npos);
}

// Those that run are blocked by then, and would be waited for without an end.
BOOST_AUTO_TEST_CASE(threads_that_run_end_when_the_machine_starts_no_more,
                     *boost::unit_test::enable_if<!test::sanitized>()) {
  for (const std::size_t threads : {0, 1, 2, 3}) {
    Graph g;
    const Queue queue = numbers(g, 2);
    const Output put = queue.enqueue({g.constant(std::int64_t{7})});
    const QueueRunner runner(queue, {put, put, put});
    Session session(g);
    RunnerCoordinator coordinator;
    const Status status = test::status_of([&] {
      const test::FewThreads few(threads);
      start_queue_runners(session, coordinator, {runner});
    });
    BOOST_TEST((status.code == Code::resource_exhausted), status.to_string());
    BOOST_TEST(coordinator.should_stop());
  }
}

BOOST_AUTO_TEST_SUITE_END()
