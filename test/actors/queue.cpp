#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "actors/client/session.h"
#include "dataflow/ops/queue_ops.h"
#include "kernels/ops.h"
#include "test/support/contains.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(queue)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const TensorType number{DType::int64, {}};

QueueOptions numbers(std::int64_t capacity, std::string name = "numbers") {
  return {.name = std::move(name), .components = {number}, .capacity = capacity};
}

Tensor vector_of(const std::vector<std::int64_t>& values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

std::vector<std::int64_t> values_of(const Tensor& tensor) {
  const auto values = tensor.values<std::int64_t>();
  return {values.begin(), values.end()};
}

// A queue of numbers and the ops that the cases use.
struct Numbers {
  explicit Numbers(const QueueOptions& options, QueueKind kind = QueueKind::fifo)
      : queue(g, kind, options) {}

  Graph g;
  Queue queue;
  Output one = g.placeholder(DType::int64, {}, "one");
  Output many = g.placeholder(DType::int64, {-1}, "many");
  Output put = queue.enqueue({one});
  Output put_many = queue.enqueue_many({many});
  Output take = queue.dequeue()[0];
  Output take_3 = queue.dequeue_many(3)[0];
  Output take_up_to_3 = queue.dequeue_up_to(3)[0];
  Output size = queue.size();
  Output is_closed = queue.is_closed();
  Output close = queue.close();
  Output cancel = queue.close(true);
};

void run(Session& session, const Output& target, const Feeds& feeds = {}) {
  session.run(std::vector<Output>{}, feeds, {target});
}

template <class Action>
std::future<Status> started(Action action) {
  return std::async(std::launch::async, [action] { return test::status_of(action); });
}

// Until so many elements are in the queue.
void wait_for_size(Session& session, const Numbers& n, std::int64_t wanted) {
  while (session.run(n.size).scalar<std::int64_t>() != wanted) std::this_thread::yield();
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_goes_in_first_comes_out_first) {
  Numbers n(numbers(10));
  Session s(n.g);
  run(s, n.put, {{n.one, Tensor::scalar<std::int64_t>(7)}});
  run(s, n.put_many, {{n.many, vector_of({1, 2, 3, 4})}});
  BOOST_TEST(s.run(n.size).scalar<std::int64_t>() == 5);
  BOOST_TEST(s.run(n.take).scalar<std::int64_t>() == 7);
  BOOST_TEST(values_of(s.run(n.take_3)) == (std::vector<std::int64_t>{1, 2, 3}),
             boost::test_tools::per_element());
  BOOST_TEST(n.take_3.type().to_string() == "int64[3]");
}

BOOST_AUTO_TEST_CASE(elements_are_tuples_of_components) {
  Graph g;
  const Queue examples = fifo_queue(
      g, {.name = "examples", .components = {{DType::float32, {2}}, {DType::string, {}}}, .capacity = 4});
  const Output put = examples.enqueue_many(
      {g.constant(Tensor::of<float>({2, 2}, {1, 2, 3, 4})),
       g.constant(Tensor::of<std::string>({2}, std::vector<std::string>{"one", "two"}))});
  const auto both = examples.dequeue_many(2);
  Session s(g);
  run(s, put);
  const auto batch = s.run(both);
  BOOST_TEST(batch[0].describe() == "float32[2,2]");
  BOOST_TEST(batch[0].values<float>()[3] == 4);
  BOOST_TEST(batch[1].values<std::string>()[1] == "two");
}

BOOST_AUTO_TEST_CASE(a_full_queue_makes_enqueue_wait) {
  Numbers n(numbers(2));
  Session s(n.g);
  auto put = started([&] { run(s, n.put_many, {{n.many, vector_of({1, 2, 3, 4, 5})}}); });
  wait_for_size(s, n, 2);
  BOOST_TEST((put.wait_for(std::chrono::seconds(0)) == std::future_status::timeout));
  for (std::int64_t i = 1; i <= 5; ++i) {
    BOOST_TEST(s.run(n.size).scalar<std::int64_t>() <= 2);
    BOOST_TEST(s.run(n.take).scalar<std::int64_t>() == i);
  }
  BOOST_TEST(put.get().to_string() == "ok");
}

BOOST_AUTO_TEST_CASE(a_dequeue_of_more_than_the_capacity_gets_them_as_they_come) {
  Numbers n(numbers(1));
  Session s(n.g);
  auto put = started([&] { run(s, n.put_many, {{n.many, vector_of({1, 2, 3})}}); });
  BOOST_TEST(values_of(s.run(n.take_3)).size() == 3u);
  BOOST_TEST(put.get().ok());
}

BOOST_AUTO_TEST_CASE(a_closed_queue_gives_what_it_has_and_is_then_out_of_range) {
  Numbers n(numbers(10));
  Session s(n.g);
  run(s, n.put_many, {{n.many, vector_of({1, 2})}});
  run(s, n.close);
  run(s, n.close);
  BOOST_TEST(s.run(n.is_closed).scalar<bool>());
  const Status few = test::status_of([&] { s.run(n.take_3); });
  BOOST_TEST((few.code == Code::out_of_range));
  BOOST_TEST(contains(few.message, "'numbers'"));
  BOOST_TEST(contains(few.message, "has 2 elements, but 3 are wanted"));
  BOOST_TEST(values_of(s.run(n.take_up_to_3)).size() == 2u);
  BOOST_TEST((test::status_of([&] { s.run(n.take_up_to_3); }).code == Code::out_of_range));
  BOOST_TEST((test::status_of([&] { s.run(n.take); }).code == Code::out_of_range));
  const Feeds feed{{n.one, Tensor::scalar<std::int64_t>(7)}};
  BOOST_TEST((test::status_of([&] { run(s, n.put, feed); }).code == Code::cancelled));
}

BOOST_AUTO_TEST_CASE(close_ends_those_who_wait_for_elements) {
  Numbers n(numbers(10));
  Session s(n.g);
  auto take = started([&] { s.run(n.take_3); });
  run(s, n.put, {{n.one, Tensor::scalar<std::int64_t>(7)}});
  run(s, n.close);
  BOOST_TEST((take.get().code == Code::out_of_range));
  BOOST_TEST(s.run(n.take).scalar<std::int64_t>() == 7);
}

BOOST_AUTO_TEST_CASE(what_waits_to_go_in_survives_close_unless_it_is_cancelled_too) {
  for (const bool cancel : {false, true}) {
    Numbers n(numbers(1));
    Session s(n.g);
    auto put = started([&] { run(s, n.put_many, {{n.many, vector_of({1, 2})}}); });
    wait_for_size(s, n, 1);
    run(s, cancel ? n.cancel : n.close);
    BOOST_TEST(s.run(n.take).scalar<std::int64_t>() == 1);
    if (!cancel) BOOST_TEST(s.run(n.take).scalar<std::int64_t>() == 2);
    BOOST_TEST((put.get().code == (cancel ? Code::cancelled : Code::ok)));
    BOOST_TEST((test::status_of([&] { s.run(n.take); }).code == Code::out_of_range));
  }
}

BOOST_AUTO_TEST_CASE(a_wait_ends_with_its_timeout_and_loses_nothing) {
  Numbers n(numbers(10));
  Session s(n.g);
  run(s, n.put_many, {{n.many, vector_of({1, 2})}});
  const Status late = test::status_of([&] { s.run(n.take_3, {}, {.timeout_ms = 50}); });
  BOOST_TEST((late.code == Code::deadline_exceeded));
  run(s, n.put, {{n.one, Tensor::scalar<std::int64_t>(3)}});
  BOOST_TEST(values_of(s.run(n.take_3)) == (std::vector<std::int64_t>{1, 2, 3}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(closing_the_session_cancels_a_blocked_dequeue) {
  Numbers n(numbers(10));
  Server server = Server::local();
  Session s(server.target(), n.g), other(server.target(), n.g);
  run(other, n.put, {{n.one, Tensor::scalar<std::int64_t>(1)}});
  auto take = started([&] { s.run(n.take_3); });
  wait_for_size(other, n, 0);  // it has taken the first and waits for two more
  s.close();
  BOOST_TEST((take.get().code == Code::cancelled));
  wait_for_size(other, n, 1);
  BOOST_TEST(other.run(n.take).scalar<std::int64_t>() == 1);
}

BOOST_AUTO_TEST_CASE(sessions_on_two_tasks_share_a_queue_by_its_name) {
  LocalCluster cluster({{"worker", 2}});
  const auto build = [](Graph& g) {
    return g.on("/job:worker/task:1", [&] { return fifo_queue(g, numbers(10)); });
  };
  Graph producer, consumer;
  const Output put = build(producer).enqueue({producer.constant(std::int64_t{42})});
  const Output taken = build(consumer).dequeue()[0];
  Session from(cluster.server("worker", 0).target(), producer);
  Session to(cluster.server("worker", 1).target(), consumer);
  run(from, put);
  BOOST_TEST(to.run(taken).scalar<std::int64_t>() == 42);
}

BOOST_AUTO_TEST_CASE(reset_clears_the_queues_of_a_container) {
  Server server = Server::local();
  Numbers n(numbers(10));
  Graph g;
  const Queue other = g.container("other", [&] { return fifo_queue(g, numbers(5)); });
  const Output other_size = other.size(), put = other.enqueue({g.constant(std::int64_t{1})});
  {
    Session s(server.target(), n.g), t(server.target(), g);
    run(s, n.close);
    run(t, put);
  }
  Session::reset(server.target(), {""});
  Session s(server.target(), n.g), t(server.target(), g);
  BOOST_TEST(!s.run(n.is_closed).scalar<bool>());
  BOOST_TEST(t.run(other_size).scalar<std::int64_t>() == 1);
}

BOOST_AUTO_TEST_CASE(an_isolated_session_has_queues_of_its_own) {
  Server server = Server::local();
  Numbers n(numbers(10));
  Session shared(server.target(), n.g);
  run(shared, n.put_many, {{n.many, vector_of({1, 2})}});
  Session alone(server.target(), n.g, SessionOptions{.isolate = true});
  BOOST_TEST(alone.run(n.size).scalar<std::int64_t>() == 0);
}

BOOST_AUTO_TEST_CASE(a_name_stands_for_one_kind_of_queue) {
  Server server = Server::local();
  Numbers n(numbers(10)), smaller(numbers(5));
  Session s(server.target(), n.g), t(server.target(), smaller.g);
  s.run(n.size);
  const Status status = test::status_of([&] { t.run(smaller.size); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(contains(status.message, "capacity 5"));
  BOOST_TEST(contains(status.message, "capacity 10"));
}

BOOST_AUTO_TEST_CASE(a_shuffle_queue_keeps_its_minimum_until_it_is_closed) {
  auto options = numbers(100);
  options.min_after_dequeue = 10;
  Numbers n(options, QueueKind::random_shuffle);
  Session s(n.g);
  std::vector<std::int64_t> all(12);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  run(s, n.put_many, {{n.many, vector_of(all)}});
  std::set<std::int64_t> taken{s.run(n.take).scalar<std::int64_t>(),
                               s.run(n.take).scalar<std::int64_t>()};
  const Status third = test::status_of([&] { s.run(n.take, {}, {.timeout_ms = 50}); });
  BOOST_TEST((third.code == Code::deadline_exceeded));
  run(s, n.close);
  for (int i = 0; i < 10; ++i) taken.insert(s.run(n.take).scalar<std::int64_t>());
  BOOST_TEST(taken.size() == 12u);
}

BOOST_AUTO_TEST_CASE(the_seed_decides_the_order_of_a_shuffle_queue) {
  const auto order = [](std::uint64_t seed) {
    auto options = numbers(64);
    options.seed = seed;
    Numbers n(options, QueueKind::random_shuffle);
    Session s(n.g);
    run(s, n.put_many, {{n.many, vector_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})}});
    std::vector<std::int64_t> values;
    for (int i = 0; i < 4; ++i)
      for (const auto value : values_of(s.run(n.take_3))) values.push_back(value);
    return values;
  };
  BOOST_TEST(order(1) == order(1), boost::test_tools::per_element());
  BOOST_TEST((order(1) != order(2)));
  const auto drawn = order(1);
  BOOST_TEST(!std::ranges::is_sorted(drawn));
  BOOST_TEST(std::set(drawn.begin(), drawn.end()).size() == 12u);
}

BOOST_AUTO_TEST_CASE(a_padding_queue_fills_rows_with_zeros) {
  Graph g;
  const Queue rows = padding_fifo_queue(
      g, {.name = "rows", .components = {{DType::float32, {-1, -1}}}, .capacity = 4});
  const Output put = rows.enqueue({g.constant(Tensor::of<float>({1, 3}, {1, 2, 3}))});
  const Output put_taller = rows.enqueue({g.constant(Tensor::of<float>({2, 1}, {4, 5}))});
  const Output both = rows.dequeue_many(2)[0];
  Session s(g);
  run(s, put);
  run(s, put_taller);
  const Tensor padded = s.run(both);
  BOOST_TEST(padded.describe() == "float32[2,2,3]");
  const auto values = padded.values<float>();
  BOOST_TEST(std::vector(values.begin(), values.end()) ==
                 (std::vector<float>{1, 2, 3, 0, 0, 0, 4, 0, 0, 5, 0, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(mistakes_are_found_when_the_graph_is_built) {
  Graph g;
  const auto message = [&g](QueueOptions options) {
    return test::status_of([&] { fifo_queue(g, options); }).message;
  };
  BOOST_TEST(contains(message(numbers(0)), "a capacity of 1 or more"));
  BOOST_TEST(contains(message(numbers(1, "")), "the name of a queue"));
  auto options = numbers(4);
  options.components = {};
  BOOST_TEST(contains(message(options), "components of one tensor or more"));
  options.components = {{DType::float32, {-1}}};
  BOOST_TEST(contains(message(options), "padding_fifo"));
  options.components = {number};
  options.min_after_dequeue = 4;
  BOOST_TEST(contains(message(options), "min_after_dequeue"));
  const Queue queue = fifo_queue(g, numbers(4));
  const Status wrong = test::status_of([&] { queue.enqueue({g.constant(1.5F)}); });
  BOOST_TEST((wrong.code == Code::invalid_argument));
  BOOST_TEST(contains(wrong.message, "int64[]"));
  BOOST_TEST(contains(wrong.message, "float32[]"));
}

BOOST_AUTO_TEST_SUITE_END()
