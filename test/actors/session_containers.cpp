// Who shares which variables: containers, isolated sessions, resets.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <thread>

#include "actors/client/session.h"
#include "actors/probes/handler_probe.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/queue_ops.h"
#include "kernels/ops.h"
#include "test/actors/support/real_servers.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(session_containers)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// Lets a master's handler of the end of a step throw once, when it is told to. Actors may look at it
// until the process ends.
class ThrowAtStepDone final : public HandlerProbe {
 public:
  void made(const HandlerName&) override {}
  void before(const HandlerName& handler) override {
    if (handler == HandlerName{"master", "StepDone"} && armed.exchange(false))
      throw std::runtime_error("a planted error");
  }
  void after(const HandlerName&) override {}

  std::atomic<bool> armed{false};
};

}  // namespace

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

BOOST_AUTO_TEST_CASE(an_isolated_session_closes_when_the_handler_of_the_end_of_its_last_step_throws) {
  static ThrowAtStepDone probe;
  handler_probe = &probe;
  {
    Server server = Server::local();
    Graph g;
    const Output element =
        fifo_queue(g, {.name = "empty", .components = {{DType::int32, {}}}, .capacity = 1}).dequeue()[0];
    Session s(server.target(), g, {.isolate = true});
    Status status;
    std::jthread step([&] { status = status_of([&] { s.run(element); }); });
    while (server.held().running == 0) std::this_thread::yield();
    probe.armed = true;
    s.close();
    step.join();
    BOOST_TEST(!status.ok());
    BOOST_TEST(!probe.armed.load());
  }
  handler_probe = nullptr;
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
    return g.on(device,
                [&] { return g.container(container, [&] { return g.variable(name, g.constant(1)); }); });
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

BOOST_AUTO_TEST_SUITE_END()
