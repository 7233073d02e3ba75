// Steps that are planned once and run many times.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "actors/client/session.h"
#include "kernels/ops.h"
#include "test/actors/support/real_servers.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(callable)

using namespace actorflow;
using namespace actorflow::test;

BOOST_AUTO_TEST_CASE(steps_and_callables_that_were_planned_before_an_extension_still_run) {
  Graph g;
  const Output x = g.placeholder(DType::int32, {}, "x");
  const Output y = x + 300;
  Session s(g);
  const Callable f = s.make_callable({y}, {x});
  BOOST_TEST(s.run(y, {{x, Tensor::scalar(1)}}).scalar<int>() == 301);
  const Output z = y * 2;
  BOOST_TEST(s.run(z, {{x, Tensor::scalar(1)}}).scalar<int>() == 602);
  BOOST_TEST(f.run({Tensor::scalar(2)})[0].scalar<int>() == 302);
  BOOST_TEST(s.run(y, {{x, Tensor::scalar(3)}}).scalar<int>() == 303);
}

BOOST_AUTO_TEST_CASE(a_callable_gives_what_run_gives_from_many_threads) {
  LocalCluster cluster({{"local", 2}});
  Graph g;
  const Output a = g.placeholder(DType::int64, {}, "a");
  const Output b = g.placeholder(DType::int64, {}, "b");
  const Output y = g.on("/job:local/task:1", [&] { return a * std::int64_t{10} + b; });
  Session s(cluster.server("local", 0).target(), g);
  const Callable f = s.make_callable({y, a}, {b, a});  // the feeds in this order
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> clients;
  for (std::int64_t c = 0; c < 4; ++c)
    clients.emplace_back([&, c] {
      for (std::int64_t i = 0; i < 100; ++i) {
        const auto results = f.run({Tensor::scalar(i), Tensor::scalar(c)});
        if (results[0].scalar<std::int64_t>() != 10 * c + i || results[1].scalar<std::int64_t>() != c)
          ++wrong;
      }
    });
  clients.clear();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(a_callable_checks_names_when_made_and_values_when_run) {
  Graph g, other;
  const Output x = g.placeholder(DType::float32, {2}, "pixels");
  const Output y = x + x;
  Session s(g);
  BOOST_TEST((status_of([&] { s.make_callable({other.constant(1)}); }).code == Code::invalid_argument));
  BOOST_TEST((status_of([&] { s.make_callable({y}); }).code == Code::invalid_argument));  // x is not fed
  const Callable f = s.make_callable({y}, {x});
  const auto shape = status_of([&] { f.run({Tensor::scalar(1.0F)}); });
  BOOST_TEST((shape.code == Code::invalid_argument));
  BOOST_TEST(
      shape.message.find("'pixels:0' must be fed float32[2], but got float32[]") != std::string::npos,
      shape.message);
  BOOST_TEST((status_of([&] { f.run({}); }).code == Code::invalid_argument));
  BOOST_TEST((f.run({Tensor::of<float>({2}, {1, 2})})[0].values<float>()[1] == 4));
}

BOOST_FIXTURE_TEST_CASE(a_released_callable_is_not_found, OneSession) {
  const auto made = client.call(MakeCallable{handle, {}, {"x"}, {}});
  BOOST_TEST(client.call(RunCallable{handle, made.callable, {}}).fetches.at(0).scalar<int>() == 2);
  BOOST_TEST(client.call(ReleaseCallable{handle, made.callable}).status.ok());
  BOOST_TEST((client.call(RunCallable{handle, made.callable, {}}).status.code == Code::not_found));
  BOOST_TEST((client.call(ReleaseCallable{handle, made.callable}).status.code == Code::not_found));
}

// Its client can guess the number before it is told.
BOOST_AUTO_TEST_CASE(a_callable_that_is_released_before_its_plan_fails_ends_nothing) {
  ServerOptions options;
  options.cluster = ClusterSpec{{"local", {"127.0.0.1:0", nobodys_address()}}};
  options.job = "local";
  options.connect_timeout_ms = 1'000;
  const Server server(std::move(options));
  MasterClient client = client_of(server);
  Graph g;
  g.on("/job:local/task:1", [&] { g.constant(2, "x"); });
  const auto handle = client.call(CreateSession{g.def()}).session;
  Status made;
  std::jthread maker([&] { made = client.call(MakeCallable{handle, {}, {"x"}, {}}).status; });
  while (!client.call(ReleaseCallable{handle, 1}).status.ok()) {
  }
  maker.join();
  BOOST_TEST((made.code == Code::unavailable), made.to_string());
  BOOST_TEST(client.call(ListDevices{handle}).status.message.find("task:1") != std::string::npos);
}

// The second run of a step takes a plan that knows its names only.
BOOST_AUTO_TEST_CASE(every_run_of_a_step_checks_its_feeds) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {}, "x");
  const Output y = x + x;
  Session s(g);
  BOOST_TEST(s.run(y, {{x, Tensor::scalar(1.0F)}}).scalar<float>() == 2);
  BOOST_TEST((status_of([&] { s.run(y, {{x, Tensor::scalar(1.0)}}); }).code == Code::invalid_argument));
  BOOST_TEST((status_of([&] { s.run(y, {{x, Tensor()}}); }).code == Code::invalid_argument));
}

BOOST_AUTO_TEST_SUITE_END()
