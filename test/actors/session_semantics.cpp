// What users of distributed TensorFlow rely on: handles, extensions, closing,
// timeouts.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <latch>
#include <thread>

#include "actors/client/session.h"
#include "dataflow/graph/core_ops.h"
#include "kernels/ops.h"
#include "test/actors/support/real_servers.h"
#include "test/support/status_of.h"
#include "test/support/waiting_token.h"

BOOST_AUTO_TEST_SUITE(session_semantics)

using namespace actorflow;
using namespace actorflow::test;

namespace {

Node identity_of(const std::string& name, NodeId input) {
  Node node;
  node.name = name;
  node.op = &identity_op();
  node.inputs = {{input, 0}};
  return node;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(an_unknown_handle_is_aborted_by_every_call, OneSession) {
  for (const MasterRequest& request : std::initializer_list<MasterRequest>{
           RunStep{.session = "nobody", .feeds = {}, .fetches = {"x"}, .targets = {}},
           ExtendSession{"nobody", {}, 0}, MakeCallable{"nobody", {}, {"x"}, {}},
           RunCallable{"nobody", 1, {}}, ReleaseCallable{"nobody", 1}, CloseSession{"nobody"},
           ListDevices{"nobody"}, DescribePlacement{"nobody"}}) {
    const Status status = client.call(request).status;
    BOOST_TEST((status.code == Code::aborted), status.to_string());
    BOOST_TEST(status.message.find("'nobody'") != std::string::npos, status.message);
  }
}

BOOST_FIXTURE_TEST_CASE(an_extension_raises_the_version_and_its_nodes_run, OneSession) {
  const auto extended = client.call(ExtendSession{handle, {identity_of("y", 0)}, version});
  BOOST_TEST(extended.status.ok(), extended.status.to_string());
  BOOST_TEST(extended.graph_version == version + 1);
  BOOST_TEST(run("y").ok());
  BOOST_TEST(client.call(ExtendSession{handle, {identity_of("z", 1)}, version + 1}).status.ok());
  BOOST_TEST(run("z").ok());
}

BOOST_FIXTURE_TEST_CASE(an_extension_by_a_node_that_exists_is_invalid_and_changes_nothing, OneSession) {
  const auto status =
      client.call(ExtendSession{handle, {identity_of("y", 0), identity_of("x", 0)}, version}).status;
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(status.message.find("'x'") != std::string::npos, status.message);
  BOOST_TEST((run("y").code == Code::not_found));
  BOOST_TEST(client.call(ExtendSession{handle, {identity_of("y", 0)}, version}).status.ok());
}

BOOST_FIXTURE_TEST_CASE(an_extension_of_a_stale_version_is_aborted_and_names_both, OneSession) {
  BOOST_TEST(client.call(ExtendSession{handle, {identity_of("y", 0)}, version}).status.ok());
  const auto status = client.call(ExtendSession{handle, {identity_of("z", 0)}, version}).status;
  BOOST_TEST((status.code == Code::aborted));
  BOOST_TEST(status.message.find("at version 1") != std::string::npos, status.message);
  BOOST_TEST(status.message.find("for version 0") != std::string::npos, status.message);
  BOOST_TEST((run("z").code == Code::not_found));
}

BOOST_FIXTURE_TEST_CASE(of_100_concurrent_extensions_of_one_version_exactly_one_succeeds, OneSession) {
  std::atomic<int> succeeded = 0, aborted = 0;
  std::latch start(100);
  std::vector<std::jthread> clients;
  for (int i = 0; i < 100; ++i)
    clients.emplace_back([&, i] {
      start.arrive_and_wait();
      const Node node = identity_of("y" + std::to_string(i), 0);
      const auto reply = client.call(ExtendSession{handle, {node}, version});
      if (reply.status.ok()) ++succeeded;
      if (reply.status.code == Code::aborted) ++aborted;
    });
  clients.clear();
  BOOST_TEST(succeeded == 1);
  BOOST_TEST(aborted == 99);
}

BOOST_AUTO_TEST_CASE(a_session_sends_what_its_graph_has_grown_by) {
  Server server = single_server();
  Graph g;
  const Output x = g.constant(2);
  for (const auto& target : {server.target(), through_port(server)}) {
    Session s(target, g);
    BOOST_TEST(s.run(x).scalar<int>() == 2);
    const Variable v = g.variable(target == server.target() ? "a" : "b", x + 1);
    s.initialize_variables();
    BOOST_TEST(s.uninitialized_variables().empty());
    const Output sum = g.assign_add(v, x);  // after the probes of the session
    BOOST_TEST(s.run(sum).scalar<int>() == 5);
    s.extend();
    BOOST_TEST(s.run(sum * x).scalar<int>() == 14);
  }
}

BOOST_AUTO_TEST_CASE(threads_that_find_the_graph_grown_send_it_once) {
  Graph g;
  const Output x = g.constant(2);
  Session s(g);
  for (int round = 0; round < 20; ++round) {
    const Output y = x * round;
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> clients;
    for (int c = 0; c < 4; ++c)
      clients.emplace_back([&] {
        if (s.run(y).scalar<int>() != 2 * round) ++wrong;
      });
    clients.clear();
    BOOST_TEST(wrong == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_step_that_asks_for_nothing_ends) {
  Graph g;
  g.constant(1);
  Session s(g);
  BOOST_TEST(s.run(std::vector<Output>{}).empty());
}

BOOST_AUTO_TEST_CASE(a_name_may_hold_any_character) {
  Graph g;
  const Output a = g.constant(1, "a"), b = g.constant(2, "b"), both = g.constant(3, "a:0|b");
  Session session(g);
  BOOST_TEST(session.run({a, b}).size() == 2U);
  BOOST_TEST(session.run(both).scalar<int>() == 3);
}

BOOST_AUTO_TEST_CASE(plans_of_old_kinds_of_steps_are_forgotten_but_those_of_callables) {
  Server server = test::single_server();
  Graph g;
  const Output x = g.placeholder(DType::int32, {}, "x");
  std::vector<Output> kinds;
  for (int i = 0; i < 300; ++i) kinds.push_back(x + i);
  Session session(server.target(), g);
  const Callable callable = session.make_callable({kinds[0]}, {x});
  const auto run = [&](const Output& kind) {
    return session.run(kind, {{x, Tensor::scalar(1)}}).scalar<int>();
  };
  for (int i = 1; i < 300; ++i) BOOST_TEST(run(kinds[static_cast<std::size_t>(i)]) == i + 1);
  BOOST_TEST(server.held().plans == 256u);
  BOOST_TEST(run(kinds[1]) == 2);  // planned again
  BOOST_TEST(callable.run({Tensor::scalar(5)})[0].scalar<int>() == 5);
  BOOST_TEST((status_of([&] { session.run(std::vector<Output>{}, {}, {x}); }).code ==
              Code::invalid_argument));
  BOOST_TEST(server.held().plans == 256u);
}

BOOST_AUTO_TEST_CASE(closing_ends_what_waits_and_what_comes_later_as_cancelled) {
  Server server = single_server();
  Graph g;
  const Output token = token_that_never_comes(g);
  const Output y = g.constant(1);
  for (const auto& target : {server.target(), through_port(server)}) {
    Session s(target, g);
    const Callable f = s.make_callable({y});
    std::vector<std::jthread> blocked;
    std::vector<Status> ends(3);
    for (auto& end : ends) blocked.emplace_back([&] { end = status_of([&] { s.run(token); }); });
    // Others may have begun, or not: they are cancelled, refused here, or unknown to the master.
    BOOST_TEST(s.run(y).scalar<int>() == 1);
    s.close();
    blocked.clear();
    for (const auto& end : ends)
      BOOST_TEST((end.code == Code::cancelled || end.code == Code::aborted), end.to_string());
    for (const auto& status : {status_of([&] { s.run(y); }), status_of([&] { f.run(); }),
                               status_of([&] { s.devices(); }), status_of([&] { s.extend(); })}) {
      BOOST_TEST((status.code == Code::cancelled));
      BOOST_TEST(status.message.find("Session::Close") != std::string::npos, status.message);
    }
    BOOST_CHECK_NO_THROW(s.close());
  }
}

BOOST_AUTO_TEST_CASE(a_timeout_of_the_session_ends_steps_that_have_none) {
  Graph g;
  const Output token = token_that_never_comes(g);
  Session s(g, {.step_timeout_ms = 30});
  BOOST_TEST((status_of([&] { s.run(token); }).code == Code::deadline_exceeded));
  const Callable f = s.make_callable({token});
  BOOST_TEST((status_of([&] { f.run({}, {.timeout_ms = 40}); }).code == Code::deadline_exceeded));
  BOOST_TEST((status_of([&] { f.run({}, {.timeout_ms = -1}); }).code == Code::invalid_argument));
  BOOST_TEST(
      (status_of([&] { Session bad(g, {.step_timeout_ms = -1}); }).code == Code::invalid_argument));
}

BOOST_AUTO_TEST_CASE(an_error_of_1_MiB_passes_through_a_remote_session) {
  Server server = single_server();
  Graph g;
  const std::string name(1 << 20, 'n');
  const Output x = g.placeholder(DType::float32, Shape::unknown_rank(), "x");
  const Output sum = g.name_scope(name, [&] {
    return add(x, g.constant(Tensor::of<float>({3}, {1, 2, 3})));
  });
  Session s(through_port(server), g);
  const Status status = status_of([&] { s.run(sum, {{x, Tensor::of<float>({2}, {1, 2})}}); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(status.message.size() > name.size());
  BOOST_TEST((status.message.find(name) != std::string::npos));
}

BOOST_AUTO_TEST_CASE(sessions_of_one_master_run_at_once_and_do_not_mix) {
  Server server = single_server();
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> clients;
  for (int c = 0; c < 6; ++c)
    clients.emplace_back([&, c] {
      Graph g;
      const Output y = g.constant(c) * 10;  // the same names in every graph
      Session s(c % 2 == 0 ? server.target() : through_port(server), g);
      for (int i = 0; i < 50; ++i)
        if (s.run(y).scalar<int>() != 10 * c) ++wrong;
    });
  clients.clear();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()
