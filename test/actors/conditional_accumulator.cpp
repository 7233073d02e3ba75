// Conditional accumulators on real servers, held against values computed by hand.
#include <boost/test/unit_test.hpp>
#include <optional>
#include <thread>

#include "actors/actorflow.h"
#include "dataflow/ops/conditional_accumulator.h"
#include "test/support/status_of.h"

using namespace actorflow;
using test::status_of;

namespace {

// A worker's graph with an accumulator of two elements on the parameter server.
struct Worker {
  Graph g;
  std::optional<ConditionalAccumulator> accumulator;
  Output gradient, local_step, number, applied, taken, size, set_step;
  std::unique_ptr<Session> session;

  Worker(LocalCluster& tasks, int index, Reduction reduction = Reduction::mean) {
    g.on("/job:ps/task:0",
         [&] { accumulator.emplace(g, DType::float32, Shape{2}, "gathered", reduction); });
    g.on("/job:worker/task:" + std::to_string(index), [&] {
      gradient = g.placeholder(DType::float32, {2}, "gradient");
      local_step = g.placeholder(DType::int64, {}, "local_step");
      number = g.placeholder(DType::int64, {}, "number");
    });
    applied = accumulator->apply_grad(gradient, local_step);
    taken = accumulator->take_grad(number);
    size = accumulator->num_accumulated();
    set_step = accumulator->set_global_step(number);
    session = std::make_unique<Session>(tasks.server("worker", index).target(), g);
  }

  bool apply(float first, float second, std::int64_t step = 0) {
    return session
        ->run(applied,
              {{gradient, Tensor::of<float>({2}, {first, second})}, {local_step, Tensor::scalar(step)}})
        .scalar<bool>();
  }
  std::vector<float> take(std::int64_t required) {
    const Tensor result = session->run(taken, {{number, Tensor::scalar(required)}});
    return {result.values<float>().begin(), result.values<float>().end()};
  }
  std::int64_t count() { return session->run(size).scalar<std::int64_t>(); }
  void set_global_step(std::int64_t step) {
    session->run({}, {{number, Tensor::scalar(step)}}, {set_step});
  }
};

// The same with an accumulator of rows of [5,2].
struct SparseWorker {
  Graph g;
  std::optional<SparseConditionalAccumulator> accumulator;
  Output values, indices, local_step, number, applied;
  IndexedSlices taken;
  std::unique_ptr<Session> session;

  SparseWorker(LocalCluster& tasks, int index, Reduction reduction = Reduction::mean) {
    g.on("/job:ps/task:0",
         [&] { accumulator.emplace(g, DType::float32, Shape{5, 2}, "rows", reduction); });
    g.on("/job:worker/task:" + std::to_string(index), [&] {
      values = g.placeholder(DType::float32, {Shape::unknown, 2}, "values");
      indices = g.placeholder(DType::int64, {Shape::unknown}, "indices");
      local_step = g.placeholder(DType::int64, {}, "local_step");
      number = g.placeholder(DType::int64, {}, "number");
    });
    applied = accumulator->apply_grad({values, indices}, local_step);
    taken = accumulator->take_grad(number);
    session = std::make_unique<Session>(tasks.server("worker", index).target(), g);
  }

  bool apply(const std::vector<std::int64_t>& rows, const std::vector<float>& numbers,
             std::int64_t step = 0) {
    return session
        ->run(applied, {{values, Tensor::of<float>({std::ssize(rows), 2}, numbers)},
                        {indices, Tensor::of<std::int64_t>({std::ssize(rows)}, rows)},
                        {local_step, Tensor::scalar(step)}})
        .scalar<bool>();
  }
  // Row by row: its index and its values.
  std::vector<std::pair<std::int64_t, std::vector<float>>> take(std::int64_t required) {
    const auto results =
        session->run({taken.values, taken.indices}, {{number, Tensor::scalar(required)}});
    std::vector<std::pair<std::int64_t, std::vector<float>>> rows;
    const auto numbers = results[0].values<float>();
    for (const auto index : results[1].values<std::int64_t>())
      rows.push_back({index, {numbers[2 * rows.size()], numbers[2 * rows.size() + 1]}});
    return rows;
  }
};

using Values = std::vector<float>;
using Rows = std::vector<std::pair<std::int64_t, Values>>;

struct Cluster {
  LocalCluster tasks{{{"ps", 1}, {"worker", 2}}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(conditional_accumulator, Cluster)

BOOST_AUTO_TEST_CASE(the_mean_is_of_all_that_are_there) {
  Worker a(tasks, 0), b(tasks, 1);
  BOOST_TEST(a.apply(1, 10));
  BOOST_TEST(b.apply(2, 20));
  BOOST_TEST(a.apply(6, 60));
  BOOST_TEST(b.count() == 3);
  BOOST_TEST((a.take(2) == Values{3, 30}));
  BOOST_TEST(b.count() == 0);
}

BOOST_AUTO_TEST_CASE(a_sum_is_not_divided) {
  Worker a(tasks, 0, Reduction::sum);
  a.apply(1, 10);
  a.apply(2, 20);
  BOOST_TEST((a.take(1) == Values{3, 30}));
}

BOOST_AUTO_TEST_CASE(taking_moves_the_step_on_and_stale_gradients_are_dropped) {
  Worker a(tasks, 0);
  a.apply(1, 1, 0);
  a.take(1);
  BOOST_TEST(!a.apply(5, 5, 0));
  BOOST_TEST(a.apply(7, 7, 1));
  a.set_global_step(10);
  BOOST_TEST(!a.apply(9, 9, 9));
  BOOST_TEST(a.apply(9, 9, 10));
  BOOST_TEST(a.count() == 2);
}

BOOST_AUTO_TEST_CASE(taking_waits_until_enough_are_there) {
  Worker a(tasks, 0), b(tasks, 1);
  Values taken;
  std::jthread taker([&] { taken = a.take(2); });
  b.apply(1, 2);
  b.apply(3, 4);
  taker.join();
  BOOST_TEST((taken == Values{2, 3}));
}

BOOST_AUTO_TEST_CASE(a_cancelled_taker_takes_nothing_from_the_next) {
  Worker a(tasks, 0), b(tasks, 1);
  Status status;
  std::jthread taker([&] { status = status_of([&] { a.take(1); }); });
  // Time for the call to arrive is not needed: one that comes after the end of its session is not begun.
  a.session->close();
  taker.join();
  BOOST_TEST(!status.ok());
  b.apply(4, 5);
  BOOST_TEST((b.take(1) == Values{4, 5}));
}

BOOST_AUTO_TEST_CASE(those_who_differ_about_it_are_told_so) {
  Worker a(tasks, 0);
  a.apply(1, 1);
  Worker b(tasks, 1, Reduction::sum);
  const Status status = status_of([&] { b.apply(1, 1); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(status.message.find("is float32[2] by mean, but this node wants float32[2] by sum") !=
                 std::string::npos,
             status.message);
  BOOST_TEST((status_of([&] { a.take(0); }).code == Code::invalid_argument));
}

BOOST_AUTO_TEST_CASE(a_row_of_the_mean_is_of_the_gradients_that_have_it) {
  SparseWorker a(tasks, 0), b(tasks, 1);
  BOOST_TEST(a.apply({4, 1}, {4, 40, 1, 10}));
  BOOST_TEST(b.apply({1, 1, 0}, {2, 20, 3, 30, 7, 70}));  // a row twice is one of its sum
  BOOST_TEST((a.take(2) == Rows{{0, {7, 70}}, {1, {3, 30}}, {4, {4, 40}}}));
  BOOST_TEST(!a.apply({0}, {1, 1}));  // stale
  BOOST_TEST(a.apply({}, {}, 1));     // counts, though it has no rows
  BOOST_TEST((b.take(1) == Rows{}));
}

BOOST_AUTO_TEST_CASE(a_sum_of_rows_is_not_divided) {
  SparseWorker a(tasks, 0, Reduction::sum);
  a.apply({2}, {1, 10});
  a.apply({2}, {2, 20});
  BOOST_TEST((a.take(1) == Rows{{2, {3, 30}}}));
}

BOOST_AUTO_TEST_CASE(rows_that_are_not_there_are_refused) {
  SparseWorker a(tasks, 0);
  const Status status = status_of([&] { a.apply({1, 5}, {1, 1, 2, 2}); });
  BOOST_TEST((status.code == Code::invalid_argument));
  for (const char* part : {"accumulator 'rows' is float32[5,2]", "indices from 0 to 4", "index 5 at place 1"})
    BOOST_TEST(status.message.find(part) != std::string::npos, status.message);
  BOOST_TEST(a.apply({1}, {1, 1}));
  BOOST_TEST((a.take(1) == Rows{{1, {1, 1}}}));
}

BOOST_AUTO_TEST_CASE(a_step_that_fails_takes_nothing_from_the_next) {
  Worker a(tasks, 0), b(tasks, 1);
  // The taker waits at the parameter server when another node of its step there fails.
  const Output wrong = a.g.on("/job:ps/task:0", [&] { return a.accumulator->take_grad(a.local_step); });
  const Status status = status_of([&] {
    a.session->run({a.taken, wrong}, {{a.number, Tensor::scalar<std::int64_t>(1)},
                                      {a.local_step, Tensor::scalar<std::int64_t>(0)}});
  });
  BOOST_TEST((status.code == Code::invalid_argument));
  b.apply(4, 5);
  BOOST_TEST((b.take(1) == Values{4, 5}));
}

BOOST_AUTO_TEST_SUITE_END()
