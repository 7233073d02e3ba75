// What users of distributed TensorFlow rely on: handles, extensions, resets, containers, closing.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <latch>
#include <thread>

#include "actors/session.h"
#include "dataflow/core_ops.h"
#include "dataflow/state_ops.h"
#include "dataflow/training_ops.h"
#include "kernels/ops.h"
#include "test/actors/status_of.h"
#include "test/actors/support/real_servers.h"

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

// A node that waits at a barrier to which nobody brings a gradient.
Output a_token_that_never_comes(Graph& g) {
  return g.add(take_token_op(), {},
               {{"variable", std::string("global_step")},
                {"accumulators", std::int64_t{1}},
                {"replica", std::int64_t{0}},
                {"replicas_to_aggregate", std::int64_t{1}},
                {"total_num_replicas", std::int64_t{1}},
                {"initial_tokens", std::int64_t{0}}});
}

// A master behind a port with a session whose graph is the constant "x".
struct OneSession {
  OneSession() {
    g.constant(2, "x");
    const auto created = client.call(CreateSession{g.def()});
    handle = created.session;
    version = created.graph_version;
  }
  Status run(const std::string& fetch) {
    RunStep step;
    step.session = handle;
    step.fetches = {fetch};
    return client.call(step).status;
  }

  Server server = single_server();
  MasterClient client = client_of(server);
  Graph g;
  std::string handle;
  std::int64_t version = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(session_semantics)

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
        if (results[0].scalar<std::int64_t>() != 10 * c + i || results[1].scalar<std::int64_t>() != c) ++wrong;
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
  BOOST_TEST(shape.message.find("'pixels:0' must be fed float32[2], but got float32[]") != std::string::npos,
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

BOOST_AUTO_TEST_CASE(a_step_that_asks_for_nothing_ends) {
  Graph g;
  g.constant(1);
  Session s(g);
  BOOST_TEST(s.run(std::vector<Output>{}).empty());
}

BOOST_AUTO_TEST_CASE(containers_keep_variables_of_one_name_apart) {
  Server server = Server::local();
  const auto run_in = [&](const std::string& container, int initial) {
    Graph g;
    const Variable v = g.container(container, [&] { return g.variable("v", g.constant(initial)); });
    Session s(server.target(), g);
    if (initial > 0) s.initialize_variables();
    return s.run(v).scalar<int>();
  };
  BOOST_TEST(run_in("", 1) == 1);
  BOOST_TEST(run_in("experiment", 2) == 2);
  BOOST_TEST(run_in("", 0) == 1);
  BOOST_TEST(run_in("experiment", 0) == 2);
}

BOOST_AUTO_TEST_CASE(an_isolated_session_has_variables_of_its_own) {
  LocalCluster cluster({{"ps", 1}, {"worker", 1}});
  const auto& target = cluster.server("worker", 0).target();
  Graph g;
  const Variable v = g.on("/job:ps", [&] { return g.variable("v", g.constant(40)); });
  const Output more = g.assign_add(v, g.constant(2));
  Session shared(target, g);
  shared.initialize_variables();
  Session alone(target, g, {.isolate = true});
  Session other(target, g, {.isolate = true});
  BOOST_TEST(alone.uninitialized_variables().size() == 1u);
  alone.initialize_variables();
  BOOST_TEST(alone.run(more).scalar<int>() == 42);
  BOOST_TEST(shared.run(v).scalar<int>() == 40);
  BOOST_TEST((status_of([&] { other.run(v); }).code == Code::failed_precondition));
}

BOOST_AUTO_TEST_CASE(variables_of_an_isolated_session_go_when_it_is_closed) {
  Server server = single_server();
  MasterClient client = client_of(server);
  Graph g;
  const Variable v = g.variable("v", g.constant(1));
  const auto handle = client.call(CreateSession{g.def(), {.isolate = true}}).session;
  RunStep initialize;
  initialize.session = handle;
  initialize.targets = {v.initializer().name()};
  BOOST_TEST(client.call(initialize).status.ok());
  // Its name on the task, for a session that is not isolated.
  Graph spy;
  const Output seen = spy.add(is_initialized_op(), {}, {{"variable", handle + ":|v"}});
  Session s(server.target(), spy);
  BOOST_TEST(s.run(seen).scalar<bool>());
  BOOST_TEST(client.call(CloseSession{handle}).status.ok());
  BOOST_TEST(!s.run(seen).scalar<bool>());
}

BOOST_AUTO_TEST_CASE(reset_closes_every_session_of_the_task_and_leaves_variables) {
  Server server = single_server();
  Graph g;
  const Variable v = g.variable("v", g.constant(1));
  Session inside(server.target(), g), outside(through_port(server), g);
  inside.initialize_variables();
  Session::reset(through_port(server));
  for (Session* s : {&inside, &outside})
    BOOST_TEST((status_of([&] { s->run(v); }).code == Code::aborted));
  Session later(server.target(), g);
  BOOST_TEST(later.run(v).scalar<int>() == 1);
  BOOST_CHECK_NO_THROW(inside.close());  // there is nothing left to do
}

BOOST_AUTO_TEST_CASE(reset_of_containers_clears_them_on_every_task_that_the_filters_allow) {
  LocalCluster cluster({{"ps", 2}, {"worker", 1}});
  const auto& target = cluster.server("worker", 0).target();
  Graph g;
  const auto at = [&](const std::string& device, const std::string& container, const std::string& name) {
    return g.on(device, [&] {
      return g.container(container, [&] { return g.variable(name, g.constant(1)); });
    });
  };
  at("/job:ps/task:0", "", "kept");
  at("/job:ps/task:0", "old", "a");
  at("/job:ps/task:1", "old", "b");
  at("/job:worker", "old", "c");
  const auto missing = [&] { return Session(target, g).uninitialized_variables(); };
  Session(target, g).initialize_variables();
  Session::reset(target, {"old"}, {"/job:ps/task:1"});
  BOOST_TEST((missing() == std::vector<std::string>{"old|b", "old|c"}));
  Session::reset(target, {"old"});
  BOOST_TEST((missing() == std::vector<std::string>{"old|a", "old|b", "old|c"}));
  Session::reset(target, {""});
  BOOST_TEST(missing().size() == 4u);
  BOOST_TEST((status_of([&] { Session::reset(target, {"no|name"}); }).code == Code::invalid_argument));
}

BOOST_AUTO_TEST_CASE(closing_ends_what_waits_and_what_comes_later_as_cancelled) {
  Server server = single_server();
  Graph g;
  const Output token = a_token_that_never_comes(g);
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
  const Output token = a_token_that_never_comes(g);
  Session s(g, {.step_timeout_ms = 30});
  BOOST_TEST((status_of([&] { s.run(token); }).code == Code::deadline_exceeded));
  const Callable f = s.make_callable({token});
  BOOST_TEST((status_of([&] { f.run({}, {.timeout_ms = 40}); }).code == Code::deadline_exceeded));
  BOOST_TEST((status_of([&] { Session bad(g, {.step_timeout_ms = -1}); }).code == Code::invalid_argument));
}

BOOST_AUTO_TEST_CASE(an_error_of_1_MiB_passes_through_a_remote_session) {
  Server server = single_server();
  Graph g;
  const std::string name(1 << 20, 'n');
  const Output x = g.placeholder(DType::float32, Shape::unknown_rank(), "x");
  const Output sum = g.name_scope(name, [&] { return add(x, g.constant(Tensor::of<float>({3}, {1, 2, 3}))); });
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
