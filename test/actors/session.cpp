#include "actors/client/session.h"

#include <boost/test/unit_test.hpp>
#include <thread>

#include "kernels/ops.h"
#include "test/support/status_of.h"
#include "test/support/waiting_token.h"

BOOST_AUTO_TEST_SUITE(session)

using namespace actorflow;

namespace {

// y = (x + 300) on task 0, plus (x - 66) on task 1.
struct Equations {
  Graph g;
  Output x = g.constant(2);
  Output y2 = g.on("/job:local/task:1", [&] { return x - 66; });
  Output y = g.on("/job:local/task:0", [&] { return x + 300 + y2; });
};

Code code_of(const std::function<void()>& action) { return test::status_of(action).code; }
std::string message_of(const std::function<void()>& action) { return test::status_of(action).message; }

}  // namespace

BOOST_AUTO_TEST_CASE(a_step_of_nothing_ends_at_once) {
  Graph g;
  g.constant(1);
  Session s(g);
  BOOST_TEST(s.run(std::vector<Output>{}).empty());
}

BOOST_AUTO_TEST_CASE(a_string_constant_comes_back) {
  Graph g;
  const Output hello = g.constant("Hello, distributed Actorflow!");
  Server server = Server::local();
  Session s(server.target(), g);
  BOOST_TEST(s.run(hello).scalar<std::string>() == "Hello, distributed Actorflow!");
}

BOOST_AUTO_TEST_CASE(one_process_computes_238) {
  Graph g;
  const Output x = g.constant(2);
  const Output y = (x + 300) + (x - 66);
  BOOST_TEST(Session(g).run(y).scalar<int>() == 238);
}

BOOST_AUTO_TEST_CASE(two_tasks_of_one_process_compute_238) {
  Equations e;
  LocalCluster cluster({{"local", 2}});
  Session s(cluster.server("local", 0).target(), e.g);
  BOOST_TEST(s.run(e.y).scalar<int>() == 238);
  BOOST_TEST(s.run(e.y2).scalar<int>() == -64);
}

BOOST_AUTO_TEST_CASE(a_fed_tensor_replaces_what_the_graph_would_compute) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {2}, "x");
  const Output doubled = x + x;
  const Output sum = doubled * 10.0F;
  Session s(g);
  const auto fed = s.run(sum, {{x, Tensor::of<float>({2}, {1, 2})}});
  BOOST_TEST(fed.values<float>()[1] == 40);
  const auto replaced = s.run(sum, {{doubled, Tensor::of<float>({2}, {5, 6})}});
  BOOST_TEST(replaced.values<float>()[0] == 50);
}

BOOST_AUTO_TEST_CASE(a_placeholder_that_is_not_fed_is_named) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {2}, "pixels");
  const Output y = x + x;
  Session s(g);
  const auto message = message_of([&] { s.run(y); });
  BOOST_TEST(message.find("pixels") != std::string::npos, message);
  BOOST_TEST(message.find("float32[2]") != std::string::npos, message);
}

BOOST_AUTO_TEST_CASE(a_feed_of_the_wrong_shape_names_expected_and_actual) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {Shape::unknown, 3}, "x");
  const Output y = x + x;
  Session s(g);
  const auto message = message_of([&] { s.run(y, {{x, Tensor::of<float>({2}, {1, 2})}}); });
  BOOST_TEST(message.find("float32[?,3]") != std::string::npos, message);
  BOOST_TEST(message.find("float32[2]") != std::string::npos, message);
}

BOOST_AUTO_TEST_CASE(an_unknown_job_is_an_error_that_names_node_and_device) {
  Graph g;
  const Output y = g.on("/job:nowhere/task:0", [&] { return g.constant(1, "stray"); });
  Session s(g);
  const auto message = message_of([&] { s.run(y); });
  BOOST_TEST(message.find("stray") != std::string::npos, message);
  BOOST_TEST(message.find("nowhere") != std::string::npos, message);
}

BOOST_AUTO_TEST_CASE(variables_live_on_their_task_beyond_a_session) {
  LocalCluster cluster({{"ps", 1}, {"worker", 1}});
  Graph g;
  const Variable v = g.on("/job:ps/task:0", [&] { return g.variable("v", g.constant(40)); });
  const Output more = g.assign_add(v, g.constant(2));
  const auto& target = cluster.server("worker", 0).target();
  {
    Session s(target, g);
    BOOST_TEST(s.uninitialized_variables() == std::vector<std::string>{"v"},
               boost::test_tools::per_element());
    BOOST_TEST((code_of([&] { s.run(v); }) == Code::failed_precondition));
    s.initialize_variables();
    BOOST_TEST(s.uninitialized_variables().empty());
    BOOST_TEST(s.run(more).scalar<int>() == 42);
  }
  Session later(target, g);
  BOOST_TEST(later.run(v).scalar<int>() == 42);
}

BOOST_AUTO_TEST_CASE(a_failing_node_is_named_and_the_session_goes_on) {
  LocalCluster cluster({{"local", 2}});
  Graph g;
  const Output x = g.placeholder(DType::float32, Shape::unknown_rank(), "x");
  const Output sum = g.on("/job:local/task:1", [&] {
    return add(x, g.constant(Tensor::of<float>({3}, {1, 2, 3})));
  });
  Session s(cluster.server("local", 0).target(), g);
  const auto message = message_of([&] { s.run(sum, {{x, Tensor::of<float>({2}, {1, 2})}}); });
  BOOST_TEST(message.find(sum.name()) != std::string::npos, message);
  BOOST_TEST(s.run(sum, {{x, Tensor::of<float>({3}, {1, 1, 1})}}).values<float>()[2] == 4);
}

BOOST_AUTO_TEST_CASE(many_threads_run_steps_at_once_and_each_gets_its_own_result) {
  LocalCluster cluster({{"local", 2}});
  Graph g;
  const Output x = g.placeholder(DType::int64, {}, "x");
  const Output there = g.on("/job:local/task:1", [&] { return x * std::int64_t{3}; });
  const Output back = g.on("/job:local/task:0", [&] { return there + std::int64_t{1}; });
  Session s(cluster.server("local", 0).target(), g);
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> clients;
  for (int c = 0; c < 4; ++c)
    clients.emplace_back([&, c] {
      for (std::int64_t i = 0; i < 200; ++i) {
        const std::int64_t value = c * 1000 + i;
        if (s.run(back, {{x, Tensor::scalar(value)}}).scalar<std::int64_t>() != value * 3 + 1) ++wrong;
      }
    });
  clients.clear();
  BOOST_TEST(wrong == 0);
}

// Inputs of 1 MiB: the lane hands such nodes to their actors while it has others to do.
BOOST_AUTO_TEST_CASE(large_nodes_computed_by_their_own_actors_give_the_same_result) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {512, 512}, "x");
  std::vector<Output> branches;
  for (int i = 1; i <= 6; ++i) branches.push_back(sum(matmul(x * static_cast<float>(i), x)));
  LocalCluster cluster({{"local", 1}}, 2);
  Session s(cluster.server("local", 0).target(), g);
  const Tensor ones = Tensor::of<float>({512, 512}, std::vector<float>(512 * 512, 1.0F));
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto sums = s.run(branches, {{x, ones}});
    for (std::size_t i = 0; i < sums.size(); ++i)
      BOOST_TEST(sums[i].scalar<float>() == static_cast<float>(i + 1) * 512 * 512 * 512);
  }
}

BOOST_AUTO_TEST_CASE(a_step_that_waits_for_ever_ends_with_its_timeout_and_names_the_task) {
  LocalCluster cluster({{"ps", 1}, {"worker", 1}});
  Graph g;
  const Output token = g.on("/job:ps/task:0", [&] { return test::token_that_never_comes(g); });
  Session s(cluster.server("worker", 0).target(), g);
  const auto run = [&] { s.run(std::vector{token}, {}, {}, {.timeout_ms = 50}); };
  BOOST_TEST(message_of(run).find("/job:ps/task:0") != std::string::npos, message_of(run));
  BOOST_TEST((code_of(run) == Code::deadline_exceeded));
}

BOOST_AUTO_TEST_CASE(closing_cancels_a_blocked_step) {
  Graph g;
  const Output token = test::token_that_never_comes(g);
  Session s(g);
  Code code = Code::ok;
  std::jthread blocked([&] { code = code_of([&] { s.run(token); }); });
  // Whether the step has begun or not, it must end as cancelled, or find the session closed.
  s.close();
  blocked.join();
  BOOST_TEST((code == Code::cancelled || code == Code::aborted));
}

BOOST_AUTO_TEST_CASE(an_unknown_target_says_what_a_target_is) {
  Graph g;
  const auto message = message_of([&] { Session s("localhost:2222", g); });
  BOOST_TEST(message.find("actorflow://host:port") != std::string::npos, message);
}

BOOST_AUTO_TEST_CASE(what_is_no_tensor_of_the_graph_is_refused) {
  Graph g, other;
  const Output x = g.constant(1), far = other.constant(2, "far");
  Session s(g);
  const auto refused = [](const std::string& what, const std::string& why) {
    return [=](const Error& error) {
      const std::string text = error.what();
      return error.code() == Code::invalid_argument && text.find(what) != text.npos &&
             text.find(why) != text.npos;
    };
  };
  BOOST_CHECK_EXCEPTION(s.run(Output()), Error, refused("fetch 0", "empty Output"));
  BOOST_CHECK_EXCEPTION(s.run({x, far}), Error, refused("fetch 1", "'far' of another graph"));
  BOOST_CHECK_EXCEPTION(s.run(x, {{Output(), Tensor{1}}}), Error, refused("feed 0", "empty Output"));
  BOOST_CHECK_EXCEPTION(s.run({x}, {}, {Output()}), Error, refused("target 0", "empty Output"));
  BOOST_CHECK_EXCEPTION(s.make_callable({x}, {far}), Error, refused("feed 0", "another graph"));
  BOOST_CHECK_EXCEPTION(s.run(Output{&g, {9, 0}}), Error, refused("node number 9", "the graph has"));
  BOOST_TEST(s.run(x).scalar<int>() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
