// What a traced step reports, and that nothing is reported otherwise.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "actors/client/session.h"
#include "actors/core/step_tracer.h"
#include "dataflow/graph/core_ops.h"
#include "kernels/ops.h"
#include "test/actors/support/real_servers.h"
#include "test/support/status_of.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

// x (40 bytes) is doubled on task 1 and fetched on task 0.
struct TracedTasks {
  const NodeTrace& node(const std::string& name) const {
    const auto found = std::ranges::find(metadata.trace.nodes, name, &NodeTrace::node);
    BOOST_REQUIRE_MESSAGE(found != metadata.trace.nodes.end(), "no record of " << name);
    return *found;
  }

  LocalCluster cluster{{{"local", 2}}};
  Graph g;
  Output x = g.placeholder(DType::float32, {10}, "x");
  Output y = g.on("/task:1", [&] { return x + x; });
  Output z = g.on("/task:0", [&] { return y * 3.0F; });
  Feeds feeds{{x, Tensor::zeros(DType::float32, {10})}};
  RunMetadata metadata;
};

SteadyTime at_us(std::int64_t us) { return SteadyTime(std::chrono::microseconds(us)); }

NodeTrace ran(std::int64_t start_us, std::int64_t end_us) {
  return {"x", "Relu", "/job:local/replica:0/task:0/device:CPU:0", start_us, end_us, 0};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(session_trace, TracedTasks)

BOOST_AUTO_TEST_CASE(every_node_of_every_task_is_there_with_its_bytes_in_causal_order) {
  Session s(cluster.server("local", 0).target(), g);
  s.run(z, feeds, {.trace = true}, &metadata);
  BOOST_TEST(node(y.name()).device == "/job:local/replica:0/task:1/device:CPU:0");
  BOOST_TEST(node(y.name()).op == y.node().op->name);
  BOOST_TEST(node(y.name()).bytes_out == 40);
  BOOST_TEST(node(z.name()).device == "/job:local/replica:0/task:0/device:CPU:0");
  for (const auto& record : metadata.trace.nodes) {
    BOOST_TEST(record.start_us >= 0);
    BOOST_TEST(record.start_us <= record.end_us);
  }
  BOOST_TEST(node(y.name()).end_us <= node(z.name()).start_us);
  const auto moved = transfers(metadata.trace);
  BOOST_REQUIRE(moved.size() == 2u);  // what was fed, and y
  BOOST_TEST(moved[0].from == "/job:local/task:0");
  BOOST_TEST(moved[0].to == "/job:local/task:1");
  BOOST_TEST(moved[1].from == "/job:local/task:1");
  BOOST_TEST(moved[1].to == "/job:local/task:0");
  for (const auto& transfer : moved) {
    BOOST_TEST(transfer.bytes == 40);
    BOOST_TEST(transfer.sent_us <= transfer.received_us);
  }
}

BOOST_AUTO_TEST_CASE(a_step_that_is_not_traced_reports_nothing) {
  Session s(cluster.server("local", 0).target(), g);
  s.run(z, feeds, {.trace = true}, &metadata);
  s.run(z, feeds, {}, &metadata);
  BOOST_TEST(metadata.trace.nodes.empty());
}

BOOST_AUTO_TEST_CASE(callables_and_remote_sessions_are_traced_too) {
  Server server = single_server();
  Graph alone;
  const Output a = alone.placeholder(DType::float32, {10}, "a");
  const Output b = a + a;
  Session s(through_port(server), alone);
  const Callable f = s.make_callable({b}, {a});
  f.run({Tensor::zeros(DType::float32, {10})}, {.trace = true}, &metadata);
  BOOST_TEST(node(b.name()).bytes_out == 40);
}

BOOST_AUTO_TEST_CASE(a_step_that_fails_reports_how_far_it_came) {
  Graph alone;
  const Output a = alone.placeholder(DType::float32, Shape::unknown_rank(), "a");
  const Output before = a + a;
  const Output fails = add(before, alone.constant(Tensor::of<float>({3}, {1, 2, 3})));
  Session s(alone);
  const auto status = status_of([&] {
    s.run(fails, {{a, Tensor::of<float>({2}, {1, 2})}}, {.trace = true}, &metadata);
  });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(node(before.name()).bytes_out == 8);
}

BOOST_AUTO_TEST_CASE(a_clock_that_can_be_ours_is_not_shifted) {
  StepTracer tracer(at_us(1000));
  tracer.add({1010, 1080, {ran(1020, 1030)}}, at_us(1100));
  const auto trace = tracer.take();
  BOOST_TEST(trace.nodes.at(0).start_us == 20);
  BOOST_TEST(trace.nodes.at(0).end_us == 30);
}

BOOST_AUTO_TEST_CASE(a_clock_that_cannot_be_ours_is_shifted_to_the_middle_of_what_the_messages_allow) {
  StepTracer tracer(at_us(1000));
  // 60 us there, of the 100 us that passed here: it began 20 us after the step did.
  tracer.add({500'000, 500'060, {ran(500'010, 500'030)}}, at_us(1100));
  tracer.add({100, 160, {ran(110, 130)}}, at_us(1100));
  for (const auto& record : tracer.take().nodes) {
    BOOST_TEST(record.start_us == 30);
    BOOST_TEST(record.end_us == 50);
  }
}

BOOST_AUTO_TEST_SUITE_END()
