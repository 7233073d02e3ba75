// Conditional accumulators on real servers, held against values computed by hand.
#include <boost/test/unit_test.hpp>
#include <optional>
#include <thread>

#include "actors/actorflow.h"
#include "dataflow/conditional_accumulator.h"
#include "test/actors/status_of.h"

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

using Values = std::vector<float>;

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

BOOST_AUTO_TEST_SUITE_END()
