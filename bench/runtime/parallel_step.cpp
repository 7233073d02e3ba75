// One step on two threads: a random graph of products that all take the same time, against the time in
// which two machines could do it by list scheduling (Graham, 1966) if handing work over cost nothing. A
// node's time is what it takes in a plain loop over the graph while the other core runs one too.
#include <algorithm>
#include <barrier>
#include <limits>
#include <queue>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "actors/actorflow.h"
#include "bench/harness.h"
#include "bench/on_core.h"
#include "kernels/devices/device.h"
#include "kernels/ops.h"
#include "kernels/products/onednn_matmul.h"

namespace actorflow::bench {
namespace {

constexpr int num_nodes = 200;
constexpr int width = 6;
constexpr int threads = 2;

// Each node takes the results of two of the 2 `width` before it; the first `width` take the input.
using Parents = std::pair<int, int>;
std::vector<Parents> random_graph() {
  std::mt19937 engine(7);
  std::vector<Parents> graph;
  std::set<Parents> used;  // the session would merge nodes with the same inputs
  for (int node = 0; node < num_nodes; ++node) {
    Parents parents;
    const auto choose = [&] {
      const int reach = 2 * width;
      return std::max(-1 - static_cast<int>(engine() % width),
                      node - 1 - static_cast<int>(engine() % static_cast<unsigned>(reach)));
    };
    do parents = {choose(), choose()};
    while (!used.insert(parents).second);
    graph.push_back(parents);
  }
  return graph;
}

// The length of the list schedule, in nodes.
double list_schedule(const std::vector<Parents>& graph) {
  std::vector<double> finished(graph.size());
  std::priority_queue<double, std::vector<double>, std::greater<>> machines;
  for (int i = 0; i < threads; ++i) machines.push(0);
  std::set<std::size_t> left;
  for (std::size_t i = 0; i < graph.size(); ++i) left.insert(i);
  const auto ready_at = [&](std::size_t node) {
    double time = 0;
    for (int parent : {graph[node].first, graph[node].second})
      if (parent >= 0) {
        const auto index = static_cast<std::size_t>(parent);
        time = left.contains(index) ? std::numeric_limits<double>::infinity()
                                    : std::max(time, finished[index]);
      }
    return time;
  };
  while (!left.empty()) {
    // The machine that is free first takes the first node that it can start; if none is ready, the one
    // that will be soonest.
    const double now = machines.top();
    machines.pop();
    const auto next = std::ranges::min_element(
        left, {}, [&](std::size_t node) { return std::max(now, ready_at(node)); });
    finished[*next] = std::max(now, ready_at(*next)) + 1;
    machines.push(finished[*next]);
    left.erase(next);
  }
  return std::ranges::max(finished);
}

double steps_per_second(const std::vector<Parents>& shape, std::int64_t side, int steps) {
  Graph g;
  const Output x = g.placeholder(DType::float32, {width, side, side});
  std::vector<Output> inputs, nodes;
  for (int i = 0; i < width; ++i)
    inputs.push_back(reshape(slice(x, {i, 0, 0}, {1, side, side}), {side, side}));
  const auto node = [&](int i) {
    return i < 0 ? inputs[static_cast<std::size_t>(-1 - i)] : nodes[static_cast<std::size_t>(i)];
  };
  for (const auto& [a, b] : shape) nodes.push_back(matmul(node(a), node(b)));
  const Output all = g.group(nodes, "all");
  LocalCluster cluster({{"local", 1}}, threads);
  Session session(cluster.server("local", 0).target(), g);
  Tensor zeros = Tensor::allocate(DType::float32, {width, side, side}, cpu_device().allocator());
  std::ranges::fill(zeros.mutable_values<float>(), 0.0F);
  const auto run = [&] { session.run({}, {{x, zeros}}, {all}); };
  for (int i = 0; i < 20; ++i) run();
  return steps / seconds_of([&] {
           for (int i = 0; i < steps; ++i) run();
         });
}

// Nodes per second of a plain loop over the graph, which lets go of results as a step does.
double loop_nodes_per_second(const std::vector<Parents>& shape, std::int64_t side, int steps) {
  const OneDnnMatMul onednn;
  Allocator& pool = cpu_device().allocator();
  Tensor input = Tensor::allocate(DType::float32, {side, side}, pool);
  std::ranges::fill(input.mutable_values<float>(), 0.0F);
  std::vector<std::size_t> last_use(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i)
    for (int parent : {shape[i].first, shape[i].second})
      if (parent >= 0) last_use[static_cast<std::size_t>(parent)] = i;
  const auto run = [&] {
    std::vector<Tensor> results(shape.size());
    const auto node = [&](int i) { return i < 0 ? input : results[static_cast<std::size_t>(i)]; };
    for (std::size_t i = 0; i < shape.size(); ++i) {
      results[i] = Tensor::allocate(DType::float32, {side, side}, pool);
      onednn.multiply({side, side, side, false, false}, node(shape[i].first), node(shape[i].second),
                      results[i], pool);
      for (int parent : {shape[i].first, shape[i].second})
        if (parent >= 0 && last_use[static_cast<std::size_t>(parent)] == i)
          results[static_cast<std::size_t>(parent)] = {};
    }
  };
  run();
  return steps * num_nodes / seconds_of([&] {
           for (int i = 0; i < steps; ++i) run();
         });
}

double scheduled_steps_per_second(const std::vector<Parents>& shape, std::int64_t side, int steps) {
  double other = 0;
  std::jthread beside([&] { other = loop_nodes_per_second(shape, side, steps); });
  const double one = loop_nodes_per_second(shape, side, steps);
  beside.join();
  return (one + other) / 2 / list_schedule(shape);
}

Measurement against_schedule(bool quick, std::int64_t side, int steps) {
  const auto shape = random_graph();
  return in_turn(
      quick ? 1 : 5, [&] { return steps_per_second(shape, side, steps); },
      [&] { return scheduled_steps_per_second(shape, side, steps); });
}

// A product again and again, of matrices that were made just before: on the other core, or on its own.
// Returns how many it makes per second.
double products_per_second(std::int64_t side, int count, bool made_elsewhere) {
  const OneDnnMatMul onednn;
  Allocator& pool = cpu_device().allocator();
  const auto matrix = [&] {
    Tensor zeros = Tensor::allocate(DType::float32, {side, side}, pool);
    std::ranges::fill(zeros.mutable_values<float>(), 0.0F);
    return zeros;
  };
  Tensor first = matrix(), second = matrix(), result = matrix();
  const Tensor other = matrix();
  const auto multiply = [&](const Tensor& a, const Tensor& b, Tensor& to) {
    onednn.multiply({side, side, side, false, false}, a, b, to, pool);
  };
  const auto make_inputs = [&] {
    multiply(other, other, first);
    multiply(other, other, second);
  };
  std::barrier turn(2);
  std::jthread maker([&] {
    const OnCore its_own(1);
    for (int i = 0; i < count; ++i) {
      if (made_elsewhere) make_inputs();
      turn.arrive_and_wait();
      turn.arrive_and_wait();
    }
  });
  const OnCore its_own(0);
  double seconds = 0;
  for (int i = 0; i < count; ++i) {
    if (!made_elsewhere) make_inputs();
    turn.arrive_and_wait();
    seconds += seconds_of([&] { multiply(first, second, result); });
    turn.arrive_and_wait();
  }
  return count / seconds;
}

// Products of inputs that the other core has made, beside products of inputs of the same core: the
// schedule does not count the difference.
Measurement inputs_of_the_other_core(bool quick, std::int64_t side, int count) {
  return in_turn(
      quick ? 1 : 5, [&] { return products_per_second(side, count, true); },
      [&] { return products_per_second(side, count, false); });
}

}  // namespace

std::vector<Benchmark> parallel_step_benchmarks() {
  const std::string schedule = "list schedule on two machines",
                    here = "its inputs made on the same core";
  return {
      {"executor/2_threads_nodes_of_20_us", "step/s", schedule, at_least(0.85),
       [](bool quick) { return against_schedule(quick, 120, quick ? 2 : 100); }},
      {"executor/2_threads_nodes_of_100_us", "step/s", schedule, at_least(0.95),
       [](bool quick) { return against_schedule(quick, 216, quick ? 1 : 25); }},
      {"executor/node_of_20_us_from_the_other_core", "node/s", here, at_least(0.5),
       [](bool quick) { return inputs_of_the_other_core(quick, 120, quick ? 10 : 5000); }},
      {"executor/node_of_100_us_from_the_other_core", "node/s", here, at_least(0.5),
       [](bool quick) { return inputs_of_the_other_core(quick, 216, quick ? 10 : 1000); }},
  };
}

}  // namespace actorflow::bench
