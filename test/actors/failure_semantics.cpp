// What SEMANTICS promises when tasks, steps and requests fail.
#include <boost/test/unit_test.hpp>
#include <thread>

#include "actors/actorflow.h"
#include "dataflow/graph/state_ops.h"
#include "kernels/core/kernel.h"
#include "schema/rpc/master_client.h"
#include "test/actors/support/foreign_task.h"
#include "test/actors/support/real_servers.h"
#include "test/support/contains.h"
#include "test/support/ports.h"
#include "test/support/status_of.h"
#include "test/support/waiting_token.h"

BOOST_AUTO_TEST_SUITE(failure_semantics)

using namespace actorflow;
using namespace actorflow::test;
using test::comes_to_hold;
using test::ForeignChief;
using test::status_of;

namespace {

// A parameter server that can be restarted, and a worker, behind ports.
struct Restartable {
  Restartable() {
    g.on("/job:ps/task:0", [&] { v = g.variable("v", g.constant(std::int64_t{5})); });
    elsewhere = g.on("/job:worker/task:0", [&] { return g.constant(std::int64_t{1}) + 1; });
    start_ps();
    worker.emplace(options("worker"));
  }
  ServerOptions options(const std::string& job) const {
    ServerOptions options;
    options.cluster = cluster;
    options.job = job;
    return options;
  }
  void start_ps() { ps.emplace(options("ps")); }
  void restart_ps() {
    ps.reset();
    start_ps();
  }
  Session session() const { return Session(worker->target(), g); }

  ClusterSpec cluster{{"ps", {test::free_address()}}, {"worker", {test::free_address()}}};
  Graph g;
  Variable v;
  Output elsewhere;
  std::optional<Server> ps, worker;
};

// A step that waits at a barrier of the ps that nobody opens: it has made its contribution to step 5.
Output endless(Graph& g, const Variable& step) {
  return g.on(step.device(), [&] { return token_that_never_comes(g, step.name(), 5); });
}

HeldState with_graphs(std::size_t graphs) {
  HeldState held;
  held.graphs = graphs;
  return held;
}

}  // namespace

BOOST_AUTO_TEST_CASE(steps_of_a_session_on_a_restarted_task_are_aborted_until_there_is_a_new_session) {
  Restartable c;
  Session before = c.session();
  before.initialize_variables();
  BOOST_TEST(before.run(c.v).scalar<std::int64_t>() == 5);
  c.restart_ps();
  Status status = status_of([&] { before.run(c.v); });
  // The loss itself may be what the first step hears of.
  if (status.code == Code::unavailable) status = status_of([&] { before.run(c.v); });
  BOOST_TEST((status.code == Code::aborted), status.to_string());
  BOOST_TEST(contains(status.message, "/job:ps/task:0 has probably restarted"), status.message);
  BOOST_TEST((status_of([&] { before.initialize_variables(); }).code == Code::aborted));
  BOOST_TEST(before.run(c.elsewhere).scalar<std::int64_t>() == 2);

  Session after = c.session();
  BOOST_TEST((status_of([&] { after.run(c.v); }).code == Code::failed_precondition));
  after.initialize_variables();
  BOOST_TEST(after.run(c.v).scalar<std::int64_t>() == 5);
}

BOOST_AUTO_TEST_CASE(a_step_on_a_task_that_goes_is_unavailable) {
  Restartable c;
  const Output forever = endless(c.g, c.v);
  Session s = c.session();
  s.initialize_variables();
  Status status;
  std::jthread step([&] { status = status_of([&] { s.run(forever); }); });
  while (c.ps->held().running == 0) std::this_thread::yield();
  c.ps.reset();
  step.join();
  BOOST_TEST((status.code == Code::unavailable), status.to_string());
  BOOST_TEST(contains(status.message, "/job:ps/task:0"), status.message);
}

BOOST_AUTO_TEST_CASE(a_session_of_a_master_that_has_restarted_is_aborted) {
  Restartable c;
  const std::string target = through_port(*c.worker);
  Session s(target, c.g);
  s.initialize_variables();
  c.worker.reset();
  c.worker.emplace(c.options("worker"));
  const Status status = status_of([&] { s.run(c.v); });
  const bool preemption = status.code == Code::aborted || status.code == Code::unavailable;
  BOOST_TEST(preemption, status.to_string());
  Session again(target, c.g);
  BOOST_TEST(again.run(c.v).scalar<std::int64_t>() == 5);
}

BOOST_AUTO_TEST_CASE(stopping_a_server_cancels_its_steps) {
  Restartable c;
  const Output forever = endless(c.g, c.v);
  Session s = c.session();
  s.initialize_variables();
  Status status;
  std::jthread step([&] { status = status_of([&] { s.run(forever); }); });
  while (c.ps->held().running == 0) std::this_thread::yield();
  c.worker->stop("a test");
  step.join();
  BOOST_TEST((status.code == Code::cancelled), status.to_string());
  BOOST_TEST(contains(status.message, "a test"), status.message);
  BOOST_TEST(s.run(c.v).scalar<std::int64_t>() == 5);  // to save what there is
}

// One worker fails by itself; the second waits for its result, the third for that of the second.
BOOST_AUTO_TEST_CASE(of_three_failing_workers_the_root_error_is_told) {
  LocalCluster cluster({{"worker", 3}});
  Graph g;
  const auto at = [](int task) { return "/job:worker/task:" + std::to_string(task); };
  const Output row = g.placeholder(DType::int64, {}, "row");
  const Output table = g.placeholder(DType::float32, {4}, "table");
  const Output root = g.on(at(2), [&] { return gather(table, row); });
  const Output second = g.on(at(1), [&] { return root + 1.0F; });
  const Output third = g.on(at(0), [&] { return second + 1.0F; });
  for (int master = 0; master < 3; ++master) {
    Session s(cluster.server("worker", master).target(), g);
    const Feeds feeds{{row, Tensor::scalar(std::int64_t{9})}, {table, Tensor::zeros(DType::float32, {4})}};
    const Status status = status_of([&] { s.run(std::vector{third, second, root}, feeds); });
    BOOST_TEST((status.code == Code::invalid_argument || status.code == Code::out_of_range),
               status.to_string());
    BOOST_TEST(contains(status.message, at(2)), status.message);
    BOOST_TEST(contains(status.message, "node '" + root.name() + "'"), status.message);
  }
}

BOOST_AUTO_TEST_CASE(an_error_of_1_MiB_reaches_a_client_whole) {
  Restartable c;
  const std::string name(1 << 20, 'v');
  Graph g;
  const Variable unset = g.on("/job:ps/task:0", [&] { return g.variable(name, g.constant(1.0F)); });
  Session s(through_port(*c.worker), g);
  const Status status = status_of([&] { s.run(unset); });
  BOOST_TEST((status.code == Code::failed_precondition));
  BOOST_TEST(contains(status.message, name));
}

BOOST_AUTO_TEST_CASE(nothing_of_a_thousand_steps_stays_and_nothing_of_a_closed_session) {
  LocalCluster cluster({{"worker", 2}});
  Graph g;
  const Output row = g.placeholder(DType::int64, {}, "row");
  const Output table = g.placeholder(DType::float32, {4}, "table");
  const Output here = g.on("/job:worker/task:0", [&] { return gather(table, row); });
  const Output sent = g.on("/job:worker/task:0", [&] { return table + 1.0F; });
  const Output there = g.on("/job:worker/task:1", [&] { return sum(sent) + here; });
  Session s(cluster.server("worker", 0).target(), g);
  const Tensor zeros = Tensor::zeros(DType::float32, {4});
  int failed = 0;
  for (int i = 0; i < 1000; ++i) {
    const Tensor index = Tensor::scalar(std::int64_t{i % 4 == 3 ? 99 : i % 4});
    if (!status_of([&] { s.run(there, {{row, index}, {table, zeros}}); }).ok()) ++failed;
  }
  BOOST_TEST(failed == 250);
  HeldState master = with_graphs(1);
  master.sessions = master.plans = 1;
  BOOST_TEST(comes_to_hold(cluster.server("worker", 0), master));
  BOOST_TEST(comes_to_hold(cluster.server("worker", 1), with_graphs(1)));
  s.close();
  for (int task = 0; task < 2; ++task)
    BOOST_TEST(comes_to_hold(cluster.server("worker", task), HeldState{}));
}

BOOST_AUTO_TEST_CASE(a_run_that_is_repeated_is_done_once) {
  ForeignChief chief;
  Graph assign, add;
  const Attrs v{{"variable", std::string("v")}};
  assign.add(assign_variable_op(), {assign.constant(std::int64_t{0})}, v);
  test::return_value(add, add.add(assign_add_variable_op(), {add.constant(std::int64_t{1})}, v), 0);
  BOOST_TEST(chief.run(chief.register_graph(1, assign), 1).status.ok());
  const auto handle = chief.register_graph(2, add);
  for (int i = 0; i < 3; ++i) chief.send(RunGraph{handle, 2, 0, {}});
  const auto first = chief.next<StepDone>();
  BOOST_TEST(first.step == 2u);
  chief.send(RunGraph{handle, 2, 0, {}});  // after its end, too
  const StepDone second = chief.run(handle, 3);
  BOOST_TEST(first.retvals.at(0).second.scalar<std::int64_t>() == 1);
  BOOST_TEST(second.retvals.at(0).second.scalar<std::int64_t>() == 2);
}

BOOST_AUTO_TEST_CASE(a_graph_that_is_registered_twice_is_kept_once) {
  ForeignChief chief;
  Graph g;
  test::return_value(g, test::receive(g, 0), 0);
  const auto handle = chief.register_graph(1, g);
  BOOST_TEST(chief.register_graph(1, g) == handle);
  BOOST_TEST(comes_to_hold(chief.server(), with_graphs(1)));
  chief.send(DeregisterGraph{handle});
  BOOST_TEST(comes_to_hold(chief.server(), HeldState{}));
}

BOOST_AUTO_TEST_CASE(nothing_of_a_lost_client_stays_at_its_master_and_the_workers) {
  Restartable c;
  const std::string target = c.worker->target();
  const std::string address = target.substr(target.rfind('/') + 1);
  {
    MasterClient client(address, cpu_device().allocator(), 60'000);
    const MasterReply created = client.call(CreateSession{c.g.def()});
    BOOST_REQUIRE(created.status.ok());
    RunStep initialise;
    initialise.session = created.session;
    initialise.targets.push_back(c.v.initializer().name());
    BOOST_TEST(client.call(initialise).status.ok());
    BOOST_TEST(c.worker->held().sessions == 1u);
    BOOST_TEST(c.ps->held().graphs == 1u);
  }  // without closing the session
  BOOST_TEST(comes_to_hold(*c.worker, HeldState{}));
  BOOST_TEST(comes_to_hold(*c.ps, HeldState{}));
}

BOOST_AUTO_TEST_CASE(a_replica_that_never_starts_does_not_delay_the_end) {
  ServerOptions options;
  options.cluster = ClusterSpec{{"worker", {test::free_address(), test::free_address()}}};
  options.job = "worker";
  options.connect_timeout_ms = 200;
  Server chief(options);
  BOOST_TEST(chief.wait_until_done({{"worker", 1}}, 600'000).empty());
}

BOOST_AUTO_TEST_CASE(a_replica_that_is_there_is_waited_for) {
  ServerOptions options;
  options.cluster = ClusterSpec{{"worker", {test::free_address(), test::free_address()}}};
  options.job = "worker";
  Server chief(options);
  options.task = 1;
  std::optional<Server> replica(std::in_place, options);
  BOOST_TEST(chief.wait_until_done({{"worker", 1}}, 1000).size() == 1u);
  std::jthread ends([&] { replica.reset(); });
  BOOST_TEST(chief.wait_until_done({{"worker", 1}}, 600'000).empty());
}

BOOST_AUTO_TEST_CASE(nothing_of_a_lost_master_stays_at_a_worker) {
  ForeignChief chief;
  Graph g;
  test::return_value(g, test::receive(g, 0), 0);
  const auto handle = chief.register_graph(1, g);
  chief.send(RunGraph{handle, 1, 0, {}});
  HeldState busy = with_graphs(1);
  busy.running = busy.waiting_transfers = 1;
  BOOST_TEST(comes_to_hold(chief.server(), busy));
  chief.hang_up();
  BOOST_TEST(comes_to_hold(chief.server(), HeldState{}));
}

BOOST_AUTO_TEST_SUITE_END()
