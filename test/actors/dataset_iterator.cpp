#include "actors/client/dataset_iterator.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "actors/client/session.h"
#include "dataflow/ops/queue_ops.h"
#include "test/support/log_lines.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(dataset_iterator)

using namespace actorflow;

namespace {

using Numbers = std::vector<std::int64_t>;

Dataset range(std::int64_t count) {
  Tensor values = Tensor::allocate(DType::int64, {count});
  std::iota(values.mutable_values<std::int64_t>().begin(), values.mutable_values<std::int64_t>().end(),
            0);
  return Dataset::tensors({values});
}

std::int64_t number(const Tuple& element) { return element[0].scalar<std::int64_t>(); }

Numbers rest(DatasetIterator& it) {
  Numbers all;
  try {
    while (true) all.push_back(number(it.next()));
  } catch (const Error& error) {
    BOOST_TEST((error.code() == Code::out_of_range), error.what());
  }
  return all;
}

Numbers from_to(std::int64_t first, std::int64_t end) {
  Numbers all(static_cast<std::size_t>(end - first));
  std::iota(all.begin(), all.end(), first);
  return all;
}

void expect_same(const Numbers& actual, const Numbers& expected) {
  BOOST_TEST(actual == expected, boost::test_tools::per_element());
}

const std::vector<TensorType> one_number = {{DType::int64, {}}};

}  // namespace

BOOST_AUTO_TEST_CASE(an_iterator_gives_every_element_and_then_its_end_for_ever) {
  for (const std::int64_t ahead : {0, 1, 7, 1000}) {
    DatasetIterator it(range(50).prefetch(ahead));
    expect_same(rest(it), from_to(0, 50));
    BOOST_CHECK_THROW(it.next(), Error);
  }
}

BOOST_AUTO_TEST_CASE(an_iterator_goes_on_wherever_it_is_told) {
  Server server = Server::local();
  DatasetIterator it(server, range(50).prefetch(3));
  it.next();
  for (const std::int64_t position : {40, 7, 0, 49, 50, 200, 12}) {
    it.skip_to(position);
    expect_same(rest(it), from_to(std::min<std::int64_t>(position, 50), 50));
  }
  BOOST_CHECK_THROW(it.skip_to(-1), Error);
}

BOOST_AUTO_TEST_CASE(no_more_is_computed_than_is_asked_for_and_prefetched) {
  for (const std::int64_t ahead : {0, 1, 5}) {
    std::atomic<std::int64_t> computed{0};
    DatasetIterator it(range(1000)
                           .map([&computed](Tuple element) {
                             ++computed;
                             return element;
                           })
                           .prefetch(ahead));
    for (std::int64_t taken = 1; taken <= 100; ++taken) {
      it.next();
      while (computed < taken + ahead) std::this_thread::yield();
      std::this_thread::yield();
      BOOST_TEST(computed.load() == taken + ahead);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_parallel_map_keeps_the_order) {
  Server server = Server::local();
  const auto squares = range(100).map(
      [](const Tuple& element) {
        if (number(element) % 3 == 0) std::this_thread::yield();
        return Tuple{Tensor::scalar<std::int64_t>(number(element) * number(element))};
      },
      {.parallel = 8});
  DatasetIterator it(server, squares.prefetch(4));
  for (std::int64_t i = 0; i < 100; ++i) BOOST_TEST(number(it.next()) == i * i);
  it.skip_to(91);
  BOOST_TEST(number(it.next()) == 91 * 91);
}

// Memory and disks that fail now and then cost an attempt, and no element.
BOOST_AUTO_TEST_CASE(an_error_is_told_and_the_same_element_is_tried_again) {
  std::uint64_t thrown = 0, told = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    const auto trouble = [&] {
      if (random() % 64 != 0) return;
      ++thrown;
      if (random() % 2 == 0) throw std::bad_alloc();
      throw Error(Code::disk_error, "cannot read");
    };
    const auto numbers = [](const std::function<void()>& disturb, std::int64_t ahead) {
      return range(30)
          .filter([disturb](const Tuple& element) {
            disturb();
            return number(element) % 5 != 0;
          })
          .map([disturb](Tuple element) {
            disturb();
            return element;
          })
          .shuffle({.buffer = 4})
          .repeat(2)
          .prefetch(ahead);
    };
    DatasetIterator undisturbed(numbers([] {}, 0));
    DatasetIterator it(numbers(trouble, static_cast<std::int64_t>(seed % 4)));
    Numbers all;
    for (Status status; status.code != Code::out_of_range;) {
      status = test::status_of([&] { all.push_back(number(it.next())); });
      told += status.code == Code::resource_exhausted || status.code == Code::disk_error;
    }
    expect_same(all, rest(undisturbed));
  }
  BOOST_TEST(thrown > 40u);
  BOOST_TEST(told == thrown);
}

BOOST_AUTO_TEST_CASE(an_error_of_an_input_is_told_once_and_steps_go_on) {
  Server server = Server::local();
  std::atomic<int> left{1};
  server.serve_input("train", range(5)
                                  .map([&left](Tuple element) {
                                    if (number(element) == 2 && left-- > 0) throw std::bad_alloc();
                                    return element;
                                  })
                                  .prefetch(3));
  Graph g;
  const auto next = iterator_get_next(g, "train", one_number);
  Session session(server.target(), g);
  for (std::int64_t i = 0; i < 2; ++i) BOOST_TEST(session.run(next[0]).scalar<std::int64_t>() == i);
  const Status failed = test::status_of([&] { session.run(next[0]); });
  BOOST_TEST((failed.code == Code::resource_exhausted), failed.to_string());
  for (std::int64_t i = 2; i < 5; ++i) BOOST_TEST(session.run(next[0]).scalar<std::int64_t>() == i);
}

BOOST_AUTO_TEST_CASE(what_a_function_throws_each_time_is_told_each_time) {
  for (const int parallel : {1, 4}) {
    Server server = Server::local();
    DatasetIterator it(server, range(10).map(
                                   [](Tuple element) {
                                     if (number(element) == 5) throw std::runtime_error("no fives");
                                     return element;
                                   },
                                   {.parallel = parallel}));
    Status status;
    while (status.ok()) status = test::status_of([&] { it.next(); });
    BOOST_TEST((status.code == Code::internal));
    BOOST_TEST(status.message == "no fives");
    BOOST_TEST((test::status_of([&] { it.next(); }).message == "no fives"));
    it.skip_to(8);
    BOOST_TEST(number(it.next()) == 8);
  }
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_an_error_of_the_first_element) {
  DatasetIterator it(Dataset::lines({"/nowhere/words"}).prefetch(2));
  const Status status = test::status_of([&] { it.next(); });
  BOOST_TEST((status.code == Code::not_found), status.to_string());
}

BOOST_AUTO_TEST_CASE(steps_take_elements_of_an_input_that_their_task_serves) {
  LocalCluster cluster({{"worker", 2}});
  cluster.server("worker", 1).serve_input("train", range(5).prefetch(2));
  Graph g;
  const auto next =
      g.on("/job:worker/task:1", [&] { return iterator_get_next(g, "train", one_number); });
  Session session(cluster.server("worker", 0).target(), g);
  for (std::int64_t i = 0; i < 5; ++i) BOOST_TEST(session.run(next[0]).scalar<std::int64_t>() == i);
  const Status end = test::status_of([&] { session.run(next[0]); });
  BOOST_TEST((end.code == Code::out_of_range), end.to_string());
  BOOST_TEST(end.message.find("'train'") != std::string::npos);
  cluster.server("worker", 1).skip_input_to("train", 3);
  BOOST_TEST(session.run(next[0]).scalar<std::int64_t>() == 3);
}

BOOST_AUTO_TEST_CASE(an_input_that_is_missing_or_of_another_type_is_named) {
  Server server = Server::local();
  Graph g;
  const auto missing = iterator_get_next(g, "test", one_number);
  const auto floats = iterator_get_next(g, "train", {{DType::float32, {2}}});
  Session session(server.target(), g);
  server.serve_input("train", range(5));
  const Status none = test::status_of([&] { session.run(missing[0]); });
  BOOST_TEST((none.code == Code::failed_precondition), none.to_string());
  BOOST_TEST(none.message.find("serve_input") != std::string::npos);
  const Status wrong = test::status_of([&] { session.run(floats[0]); });
  BOOST_TEST((wrong.code == Code::invalid_argument), wrong.to_string());
  BOOST_TEST(wrong.message.find("float32[2], but the input gave int64[]") != std::string::npos);
  BOOST_TEST(
      (test::status_of([&] { server.serve_input("train", range(1)); }).code == Code::already_exists));
  BOOST_TEST((test::status_of([&] { server.skip_input_to("test", 1); }).code == Code::not_found));
}

// An element that another thread computes ahead does not come. What the waiting thread computes itself
// is no wait.
BOOST_AUTO_TEST_CASE(a_wait_for_an_element_is_said) {
  test::LogLines lines;
  std::latch may_go_on(1);
  std::atomic<bool> held{false};
  std::atomic<std::thread::id> client{};
  DatasetIterator it(range(1'000'000)
                         .map([&](Tuple element) {
                           if (std::this_thread::get_id() != client.load() && !held.exchange(true))
                             may_go_on.wait();
                           return element;
                         })
                         .prefetch(2));
  auto reading = std::async(std::launch::async, [&] {
    client = std::this_thread::get_id();
    while (!held) {
      it.next();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // others may go ahead
    }
    for (int i = 0; i < 4; ++i) it.next();  // comes to the one that is held
  });
  BOOST_TEST(lines.come_to_say("of a dataset, since 2 s"), lines.all());
  may_go_on.count_down();
  reading.get();
}

BOOST_AUTO_TEST_SUITE_END()
