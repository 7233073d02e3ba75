// The executor: how many nodes per second, and how long a small step takes. Against a plain loop over
// the same graph (what the scheduling itself costs), against actors that send a message per edge,
// against our own node actors (what lanes save), and against TensorFlow's executor.
#include <algorithm>
#include <atomic>
#include <caf/all.hpp>
#include <random>
#include <set>
#include <thread>

#include "actors/actorflow.h"
#include "bench/frameworks/frameworks.h"
#include "bench/harness.h"
#include "dataflow/graph/core_ops.h"
#include "kernels/devices/device.h"

namespace actorflow::bench {
namespace {

// A random control-only graph, `width` wide, as in TensorFlow's BM_executor: each node comes after one
// to three of the 2 `width` nodes before it. No two come after the same ones: the session would merge
// them.
struct RandomGraph {
  std::vector<std::vector<int>> successors;
  std::vector<int> predecessors;

  RandomGraph(int width, int nodes) : successors(static_cast<std::size_t>(nodes)) {
    std::mt19937 engine(7);
    std::set<std::set<int>> used;
    predecessors.push_back(0);
    for (int node = 1; node < nodes; ++node) {
      std::set<int> before;
      do {
        before.clear();
        const int reach = std::min(node, 2 * width);
        for (auto edges = 1 + engine() % 3; edges > 0; --edges)
          before.insert(node - 1 - static_cast<int>(engine() % static_cast<unsigned>(reach)));
      } while (!used.insert(before).second);
      for (int from : before) successors[static_cast<std::size_t>(from)].push_back(node);
      predecessors.push_back(static_cast<int>(before.size()));
    }
  }
  std::size_t size() const { return successors.size(); }
};

// The same graph in a session; `last` runs everything.
struct NullGraph {
  Graph g;
  Output last;

  explicit NullGraph(const RandomGraph& shape) {
    std::vector<Output> nodes;
    std::vector<std::vector<Output>> before(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      nodes.push_back(g.after(before[i], [&] { return g.add(no_op()); }));
      for (int next : shape.successors[i]) before[static_cast<std::size_t>(next)].push_back(nodes[i]);
    }
    last = g.group(nodes, "last");
  }
};

// A loop with a ready queue: the least that running the graph can cost.
double plain_loop(const RandomGraph& graph, int steps) {
  std::vector<int> pending, ready;
  std::size_t done = 0;
  const double seconds = seconds_of([&] {
    for (int step = 0; step < steps; ++step) {
      pending = graph.predecessors;
      for (std::size_t i = 0; i < graph.size(); ++i)
        if (pending[i] == 0) ready.push_back(static_cast<int>(i));
      while (!ready.empty()) {
        const int node = ready.back();
        ready.pop_back();
        ++done;
        for (int next : graph.successors[static_cast<std::size_t>(node)])
          if (--pending[static_cast<std::size_t>(next)] == 0) ready.push_back(next);
      }
    }
  });
  return static_cast<double>(done) / seconds / 1e6;
}

struct EdgeActorState {
  std::vector<caf::actor> successors;
  int predecessors = 0, pending = 0;
};
using Link = caf::atom_constant<caf::atom("link")>;
using Fired = caf::atom_constant<caf::atom("fired")>;

caf::behavior edge_actor(caf::stateful_actor<EdgeActorState>* self, int predecessors,
                         std::atomic<std::size_t>* done) {
  self->state.predecessors = self->state.pending = predecessors;
  return {
      [=](Link, caf::actor& next) { self->state.successors.push_back(std::move(next)); },
      [=](Fired) {
        if (--self->state.pending > 0) return;
        self->state.pending = self->state.predecessors;
        for (const auto& next : self->state.successors) self->send(next, Fired::value);
        done->fetch_add(1, std::memory_order_release);
      },
  };
}

// One actor per node and one message per edge.
double message_per_edge(const RandomGraph& graph, int steps) {
  caf::actor_system_config config;
  config.set("scheduler.max-threads", std::size_t{1});
  caf::actor_system system(config);
  std::atomic<std::size_t> done = 0;
  std::vector<caf::actor> actors, sources;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    actors.push_back(system.spawn(edge_actor, std::max(1, graph.predecessors[i]), &done));
    if (graph.predecessors[i] == 0) sources.push_back(actors.back());
  }
  for (std::size_t i = 0; i < graph.size(); ++i)
    for (int next : graph.successors[i])
      caf::anon_send(actors[i], Link::value, actors[static_cast<std::size_t>(next)]);
  const double seconds = seconds_of([&] {
    for (int step = 1; step <= steps; ++step) {
      for (const auto& source : sources) caf::anon_send(source, Fired::value);
      while (done.load(std::memory_order_acquire) < graph.size() * static_cast<std::size_t>(step))
        std::this_thread::yield();
    }
  });
  for (const auto& actor : actors) caf::anon_send_exit(actor, caf::exit_reason::kill);
  return static_cast<double>(graph.size()) * steps / seconds / 1e6;
}

// Million nodes per second with so many client threads, each with one step in flight.
double null_ops(const RandomGraph& shape, int threads, int in_flight, int steps,
                const SessionOptions& options = {}) {
  LocalCluster cluster({{"local", 1}}, threads);
  NullGraph graph(shape);
  Session session(cluster.server("local", 0).target(), graph.g, options);
  const auto run = [&] { session.run(std::vector<Output>{}, {}, {graph.last}); };
  for (int i = 0; i < in_flight; ++i) run();
  const double seconds = seconds_of([&] {
    std::vector<std::jthread> clients;
    for (int c = 0; c < in_flight; ++c)
      clients.emplace_back([&] {
        for (int i = 0; i < steps / in_flight; ++i) run();
      });
  });
  return static_cast<double>(shape.size()) * (steps / in_flight * in_flight) / seconds / 1e6;
}

RandomGraph bm_executor(bool quick) { return {16, quick ? 500 : 10'000}; }

Measurement null_ops_against_loop(bool quick) {
  const RandomGraph graph = bm_executor(quick);
  const int steps = quick ? 20 : 400;
  return in_turn(
      quick ? 1 : 5, [&] { return null_ops(graph, 1, 1, steps); },
      [&] { return plain_loop(graph, steps); });
}

Measurement null_ops_against_messages(bool quick) {
  const RandomGraph graph = bm_executor(quick);
  return in_turn(
      quick ? 1 : 3, [&] { return null_ops(graph, 1, 1, quick ? 20 : 400); },
      [&] { return message_per_edge(graph, quick ? 2 : 20); });
}

Measurement null_ops_against_node_actors(bool quick) {
  const RandomGraph graph = bm_executor(quick);
  return in_turn(
      quick ? 1 : 3, [&] { return null_ops(graph, 1, 1, quick ? 20 : 400); },
      [&] { return null_ops(graph, 1, 1, quick ? 2 : 20, {.executor = Executor::node_actors}); });
}

Measurement null_ops_on_two_threads(bool quick) {
  const RandomGraph graph = bm_executor(quick);
  const int steps = quick ? 20 : 800;
  return in_turn(
      quick ? 1 : 5, [&] { return null_ops(graph, 2, 4, steps); },
      [&] { return null_ops(graph, 1, 1, steps); });
}

// On one thread with one step in flight, or on two with four.
Measurement null_ops_against_tensorflow(int threads, bool quick) {
  const RandomGraph graph = bm_executor(quick);
  const int in_flight = threads == 1 ? 1 : 4, steps = threads * (quick ? 20 : 400);
  return in_turn(
      quick ? 1 : 3, [&] { return null_ops(graph, threads, in_flight, steps); },
      [&] { return tensorflow_null_ops(static_cast<int>(graph.size()), threads, in_flight, quick); });
}

constexpr int chain_length = 1000;

// Nanoseconds per addition.
double chain_of_adds(int steps) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {});
  Output sum = x;
  for (int i = 0; i < chain_length; ++i) sum = sum + x;
  LocalCluster cluster({{"local", 1}}, 1);
  Session session(cluster.server("local", 0).target(), g);
  const Feeds feeds{{x, Tensor::scalar(1.0F)}};
  session.run(sum, feeds);
  return seconds_of([&] {
           for (int i = 0; i < steps; ++i) session.run(sum, feeds);
         }) /
         steps / chain_length * 1e9;
}

// The same with tensors of the same pool and no graph.
double loop_of_adds(int steps) {
  Allocator& pool = cpu_device().allocator();
  const Tensor x = Tensor::scalar(1.0F);
  return seconds_of([&] {
           for (int i = 0; i < steps; ++i) {
             Tensor sum = x;
             for (int n = 0; n < chain_length; ++n) {
               Tensor next = Tensor::allocate(DType::float32, {}, pool);
               next.mutable_values<float>()[0] = sum.values<float>()[0] + x.values<float>()[0];
               sum = std::move(next);
             }
           }
         }) /
         steps / chain_length * 1e9;
}

Measurement chain(bool quick) {
  const int steps = quick ? 10 : 2000;
  return in_turn(
      quick ? 1 : 5, [&] { return chain_of_adds(steps); }, [&] { return loop_of_adds(steps); });
}

// Median microseconds of a step of 30 additions in a session of this process.
double step_latency(int steps) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {});
  Output sum = x;
  for (int i = 0; i < 30; ++i) sum = sum + x;
  Session session(g);
  const Feeds feeds{{x, Tensor::scalar(1.0F)}};
  std::vector<double> latencies;
  for (int i = 0; i < steps; ++i)
    latencies.push_back(seconds_of([&] { session.run(sum, feeds); }) * 1e6);
  return median(latencies);
}

double scoped_request(int steps) {
  caf::actor_system_config config;
  caf::actor_system system(config);
  const auto echo =
      system.spawn([](caf::event_based_actor*) -> caf::behavior { return {[](int i) { return i; }}; });
  caf::scoped_actor self{system};
  std::vector<double> latencies;
  for (int i = 0; i < steps; ++i)
    latencies.push_back(
        seconds_of([&] {
          self->request(echo, caf::infinite, i).receive([](int) {}, [](const caf::error&) {});
        }) *
        1e6);
  return median(latencies);
}

Measurement latency(bool quick) {
  const int steps = quick ? 50 : 5000;
  return in_turn(
      quick ? 1 : 5, [&] { return step_latency(steps); }, [&] { return scoped_request(steps); });
}

}  // namespace

std::vector<Benchmark> executor_benchmarks() {
  return {
      {"executor/null_ops", "Mnode/s", "plain ready-queue loop", at_least(0.15), null_ops_against_loop},
      {"executor/null_ops_vs_messages", "Mnode/s", "one CAF message per edge", at_least(25),
       null_ops_against_messages},
      {"executor/null_ops_vs_node_actors", "Mnode/s", "ours with an actor per node", at_least(25),
       null_ops_against_node_actors},
      {"executor/null_ops_2_threads_4_steps", "Mnode/s", "ours on one thread", at_least(1.3),
       null_ops_on_two_threads},
      {"executor/null_ops_vs_tensorflow", "Mnode/s", "TensorFlow's executor", at_least(1.5),
       [](bool quick) { return null_ops_against_tensorflow(1, quick); }},
      {"executor/null_ops_2_threads_4_steps_vs_tensorflow", "Mnode/s", "TensorFlow's executor",
       at_least(2), [](bool quick) { return null_ops_against_tensorflow(2, quick); }},
      {"executor/chain_of_1000_adds", "ns/op", "plain loop with the same pool", at_most(4), chain},
      {"executor/step_latency_30_ops_p50", "us", "CAF scoped_actor request", at_most(1), latency},
  };
}

}  // namespace actorflow::bench
