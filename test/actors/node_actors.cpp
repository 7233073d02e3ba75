// Nodes as actors (SessionOptions::executor): the same bits as lanes give, and the same errors. Training
// is in node_actor_training.cpp.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <random>
#include <thread>

#include "actors/actorflow.h"
#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/queue_ops.h"
#include "kernels/core/builtin_ops.h"
#include "test/kernels/support/op_table.h"
#include "test/support/status_of.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

const SessionOptions with_actors{.executor = Executor::node_actors};
const std::string here = "/job:local/task:0", there = "/job:local/task:1";

Tensor row(float a, float b, float c) { return Tensor::of<float>({3}, {a, b, c}); }

// Two tasks, and sessions of both kinds.
struct TwoTasks {
  Session session(const Graph& graph, const SessionOptions& options = with_actors) {
    return Session(cluster.server("local", 0).target(), graph, options);
  }
  void expect_the_same(const Graph& graph, const std::vector<Output>& fetches, const Feeds& feeds) {
    const auto expected = session(graph, {}).run(fetches, feeds);
    Session actors = session(graph);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto actual = actors.run(fetches, feeds);
      BOOST_TEST_REQUIRE(actual.size() == expected.size());
      for (std::size_t i = 0; i < actual.size(); ++i)
        BOOST_TEST(identical(actual[i], expected[i]), fetches[i].name());
    }
  }
  // Nobody has kept anything of a step.
  bool nothing_runs() {
    HeldState held = cluster.server("local", 0).held();
    held += cluster.server("local", 1).held();
    return held.running == 0 && held.steps == 0 && held.waiting_transfers == 0;
  }

  LocalCluster cluster{{{"local", 2}}, 2};
  Graph g;
};

// As test/dataflow/region.cpp draws them: sums and products of what came before, here and there, some
// after others without taking anything of them.
struct RandomGraph {
  explicit RandomGraph(unsigned seed) : random(seed) {
    tensors = {g.placeholder(DType::float32, {3}, "x"), g.placeholder(DType::float32, {3}, "y")};
    for (int i = 0; i < 30; ++i) add();
    for (int i = 0; i < 4; ++i) fetches.push_back(tensors[draw(tensors.size())]);
  }
  std::size_t draw(std::size_t below) { return random() % below; }
  void add() {
    const Output a = tensors[draw(tensors.size())], b = tensors[draw(tensors.size())];
    const Output made = g.on(draw(3) == 0 ? there : here, [&] {
      return draw(3) == 0 ? a * b : draw(3) == 0 ? relu(a) : a + b * 0.5F;
    });
    tensors.push_back(made);
    const Output before = tensors[draw(tensors.size())];
    if (draw(3) == 0 && before.edge.node < made.edge.node) g.add_control(before, made);
  }

  std::mt19937 random;
  Graph g;
  std::vector<Output> tensors, fetches;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(node_actors, TwoTasks)

BOOST_AUTO_TEST_CASE(every_op_of_the_table_gives_the_same_bits) {
  for (const OpRow& row : op_table()) {
    Graph graph;
    std::vector<Output> inputs, outputs;
    Feeds feeds;
    for (const auto& tensor : make_inputs(row)) {
      inputs.push_back(graph.placeholder(tensor.dtype(), tensor.shape()));
      feeds.emplace_back(inputs.back(), tensor);
    }
    const Output first = graph.add(builtin_ops().def(row.op), inputs, row.attrs);
    for (std::size_t i = 0; i < first.node().outputs.size(); ++i)
      outputs.push_back(first.output(static_cast<int>(i)));
    BOOST_TEST_CONTEXT(row) expect_the_same(graph, outputs, feeds);
  }
}

BOOST_AUTO_TEST_CASE(any_graph_computes_what_it_does_in_a_lane) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomGraph random(seed);
    const Feeds feeds{{random.tensors[0], row(0.75F, -0.3F, 1.1F)},
                      {random.tensors[1], row(-0.9F, 0.2F, 0.4F)}};
    BOOST_TEST_CONTEXT("seed " << seed) expect_the_same(random.g, random.fetches, feeds);
  }
}

// One output goes to several nodes and twice to one; two branches meet again, one after the other.
BOOST_AUTO_TEST_CASE(a_diamond_with_control_edges) {
  const Output x = g.placeholder(DType::float32, {3}, "x");
  const Output right = g.on(there, [&] { return relu(x); });
  const Output left = x * x;
  const Output aside = g.add(no_op(), {}, {}, "aside");
  const Output meet = left - right;
  g.add_control(right, left);
  g.add_control(left, aside);
  g.add_control(aside, meet);
  expect_the_same(g, {meet, right, x}, {{x, row(1.5F, -2, 3)}});
}

BOOST_AUTO_TEST_CASE(steps_of_several_threads_run_at_once_and_each_gets_its_own_result) {
  const Output x = g.placeholder(DType::int64, {}, "x");
  const Output tripled = g.on(there, [&] { return x * std::int64_t{3}; });
  const Output back = tripled + x * x;
  Session s = session(g);
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> clients;
  for (int c = 0; c < 4; ++c)
    clients.emplace_back([&, c] {
      for (std::int64_t i = 0; i < 100; ++i) {
        const std::int64_t value = c * 1000 + i;
        const Tensor result = s.run(back, {{x, Tensor::scalar(value)}});
        if (result.scalar<std::int64_t>() != value * 3 + value * value) ++wrong;
      }
    });
  clients.clear();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(a_failing_node_fails_its_step_as_in_a_lane_and_the_next_step_works) {
  const Output x = g.placeholder(DType::float32, Shape::unknown_rank(), "x");
  const Output sum = g.on(there, [&] { return add(x, g.constant(row(1, 2, 3))); });
  const Output result = sum * 2.0F;
  const Feeds bad{{x, Tensor::of<float>({2}, {1, 2})}};
  Session lanes = session(g, {}), actors = session(g);
  const Status expected = status_of([&] { lanes.run(result, bad); });
  BOOST_TEST((expected.code == Code::invalid_argument));
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Status actual = status_of([&] { actors.run(result, bad); });
    BOOST_TEST((actual.code == expected.code));
    BOOST_TEST(actual.message == expected.message);
    BOOST_TEST(identical(actors.run(result, {{x, row(1, 1, 1)}}), row(4, 6, 8)));
  }
  BOOST_TEST(nothing_runs());
}

BOOST_AUTO_TEST_CASE(variables_and_queues_belong_to_the_same_actors) {
  const TensorType number{DType::float32, {}};
  const Variable v = g.on(there, [&] { return g.variable("v", g.constant(1.0F)); });
  const Output grown = g.assign_add(v, g.constant(2.0F));
  Output put, take;
  g.on(here, [&] {
    const Queue queue(g, QueueKind::fifo, {.name = "numbers", .components = {number}, .capacity = 4});
    put = queue.enqueue({grown});
    take = queue.dequeue()[0];
  });
  Session s = session(g);
  s.initialize_variables();
  for (const float expected : {3.0F, 5.0F}) {
    s.run(std::vector<Output>{}, {}, {put});
    BOOST_TEST(s.run(take).scalar<float>() == expected);
  }
  BOOST_TEST(session(g, {}).run(v).scalar<float>() == 5);
}

// What a step waits for that is given up, the next one gets.
BOOST_AUTO_TEST_CASE(a_step_that_waits_in_vain_ends_with_its_timeout_and_takes_nothing_with_it) {
  const TensorType number{DType::int64, {}};
  Output put, take, doubled;
  g.on(there, [&] {
    const Queue queue(g, QueueKind::fifo, {.name = "empty", .components = {number}, .capacity = 4});
    put = queue.enqueue({g.constant(std::int64_t{7})});
    take = queue.dequeue()[0];
  });
  g.on(here, [&] { doubled = take + take; });
  Session s = session(g);
  for (int repeat = 0; repeat < 5; ++repeat) {
    const Status status = status_of([&] { s.run(doubled, {}, {.timeout_ms = 20}); });
    BOOST_TEST((status.code == Code::deadline_exceeded), status.to_string());
  }
  s.run(std::vector<Output>{}, {}, {put});
  BOOST_TEST(s.run(doubled).scalar<std::int64_t>() == 14);
  BOOST_TEST(nothing_runs());
}

BOOST_AUTO_TEST_CASE(closing_the_session_or_its_server_ends_a_step_that_waits) {
  const TensorType number{DType::int64, {}};
  const Output take =
      Queue(g, QueueKind::fifo, {.name = "empty", .components = {number}, .capacity = 4}).dequeue()[0];
  for (const bool close_session : {true, false}) {
    LocalCluster alone({{"local", 1}}, 2);
    Session s(alone.server("local", 0).target(), g, with_actors);
    Status status;
    std::jthread step([&] { status = status_of([&] { s.run(take); }); });
    while (alone.server("local", 0).held().running == 0) std::this_thread::yield();
    if (close_session)
      s.close();
    else
      alone.server("local", 0).stop("a test");
    step.join();
    BOOST_TEST((status.code == Code::cancelled), status.to_string());
  }
}

BOOST_AUTO_TEST_CASE(a_trace_has_every_node_in_causal_order) {
  const Output x = g.placeholder(DType::float32, {3}, "x");
  const Output y = g.on(there, [&] { return x + x; });
  const Output z = y * 3.0F;
  RunMetadata metadata;
  session(g).run(z, {{x, row(1, 2, 3)}}, {.trace = true}, &metadata);
  const auto& nodes = metadata.trace.nodes;
  const auto find = [&nodes](const Output& output) {
    const auto found = std::ranges::find(nodes, output.name(), &NodeTrace::node);
    BOOST_REQUIRE(found != nodes.end());
    return *found;
  };
  BOOST_TEST(find(y).bytes_out == 12);
  BOOST_TEST(find(y).end_us <= find(z).start_us);
  const auto moved = transfers(metadata.trace);
  BOOST_TEST(moved.size() == 2u);
  for (const auto& transfer : moved) {
    BOOST_TEST(transfer.bytes == 12);
    BOOST_TEST(transfer.sent_us <= transfer.received_us);
  }
}

// A session that asks for both gets node actors.
BOOST_AUTO_TEST_CASE(node_actors_go_before_cuda_graphs) {
  const Output y = square(g.constant(2.0F));
  for (const bool cuda_graphs : {true, false})
    BOOST_TEST(session(g, {.cuda_graphs = cuda_graphs, .executor = Executor::node_actors})
                   .run(y)
                   .scalar<float>() == 4);
}

BOOST_AUTO_TEST_SUITE_END()
