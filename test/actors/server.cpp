// Servers behind real ports on loopback, reached from outside their process' shortcut.
#include "actors/task/server.h"

#include <boost/test/unit_test.hpp>

#include "actors/client/session.h"
#include "dataflow/graph/core_ops.h"
#include "kernels/ops.h"
#include "test/actors/support/real_servers.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(server)

using namespace actorflow;
using namespace actorflow::test;

BOOST_AUTO_TEST_CASE(a_client_outside_the_cluster_computes_238) {
  Server server = single_server();
  Graph g;
  const Output x = g.constant(2);
  const Output y = (x + 300) + (x - 66);
  Session s(through_port(server), g);
  BOOST_TEST(s.run(y).scalar<int>() == 238);
  BOOST_TEST(s.devices().front().name == "/job:local/replica:0/task:0/device:CPU:0");
}

BOOST_AUTO_TEST_CASE(feeds_strings_and_large_tensors_pass_through_the_port) {
  Server server = single_server();
  Graph g;
  const Output x = g.placeholder(DType::float32, {Shape::unknown}, "x");
  const Output doubled = x + x;
  const Output text = g.constant("grüße");
  Session s(through_port(server), g);
  const std::int64_t count = 5'000'000;  // 20 MB each way
  Tensor large = Tensor::zeros(DType::float32, {count});
  large.mutable_values<float>()[4'999'999] = 21;
  const auto results = s.run({doubled, text}, {{x, large}});
  BOOST_TEST(results[0].values<float>()[4'999'999] == 42);
  BOOST_TEST(results[0].values<float>()[0] == 0);
  BOOST_TEST(results[1].scalar<std::string>() == "grüße");
}

BOOST_AUTO_TEST_CASE(errors_keep_their_code_and_text_through_the_port) {
  Server server = single_server();
  Graph g;
  const Variable v = g.variable("v", g.constant(1.0F));
  Session s(through_port(server), g);
  const Status status = status_of([&] { s.run(v); });
  BOOST_TEST((status.code == Code::failed_precondition));
  BOOST_TEST(status.message.find("'v'") != std::string::npos, status.message);
}

BOOST_AUTO_TEST_CASE(variables_are_shared_between_sessions_inside_and_outside) {
  Server server = single_server();
  Graph g;
  const Variable v = g.variable("v", g.constant(1.0F));
  Session inside(server.target(), g);
  inside.initialize_variables();
  Session outside(through_port(server), g);
  BOOST_TEST(outside.run(v).scalar<float>() == 1.0F);
}

BOOST_AUTO_TEST_CASE(a_port_that_is_taken_is_named) {
  Server server = single_server();
  const std::string address = server.target().substr(std::string("actorflow://").size());
  const Status status = status_of([&] { single_server(address); });
  BOOST_TEST((status.code == Code::already_exists));
  BOOST_TEST(status.message.find(address) != std::string::npos, status.message);
}

BOOST_AUTO_TEST_CASE(a_task_outside_the_cluster_is_refused_with_what_there_is) {
  ServerOptions options;
  options.cluster = ClusterSpec{{"worker", {"127.0.0.1:0"}}};
  options.job = "worker";
  options.task = 5;
  const Status status = status_of([&] { Server server(options); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(status.message.find("5") != std::string::npos, status.message);
}

BOOST_AUTO_TEST_CASE(options_that_make_no_sense_are_named_together) {
  ServerOptions options;
  options.cluster = ClusterSpec{{"worker", {"127.0.0.1:0"}}};
  options.job = "worker";
  options.max_connections = 0;
  options.spin_us = -1;
  const Status status = status_of([&] { Server server(options); });
  BOOST_TEST((status.code == Code::invalid_argument));
  for (const char* text :
       {"max_connections must be 1 or more, got 0", "spin_us must be 0 or more, got -1"})
    BOOST_TEST(status.message.find(text) != std::string::npos, status.message);
}

BOOST_AUTO_TEST_CASE(an_unreachable_server_is_named_within_the_timeout) {
  std::string target;
  {
    Server gone = single_server();
    target = through_port(gone);
  }
  Graph g;
  const Status status = status_of([&] { Session s(target, g, {}, 200); });
  BOOST_TEST((status.code == Code::unavailable));
  BOOST_TEST(status.message.find(target.substr(std::string("actorflow://").size())) != std::string::npos,
             status.message);
}

BOOST_AUTO_TEST_CASE(other_than_loopback_addresses_are_refused_unless_allowed) {
  const Status status = status_of([&] { single_server("0.0.0.0:0"); });
  BOOST_TEST((status.code == Code::permission_denied), status.to_string());
}

BOOST_AUTO_TEST_CASE(a_step_on_a_server_that_ends_fails_and_does_not_hang) {
  auto server = std::make_unique<Server>(single_server());
  Graph g;
  const Output y = g.constant(1) + 2;
  Session s(server->target(), g);
  BOOST_TEST(s.run(y).scalar<int>() == 3);
  server.reset();
  const Status status = status_of([&] { s.run(y); });
  BOOST_TEST(!status.ok());
}

BOOST_AUTO_TEST_SUITE_END()
