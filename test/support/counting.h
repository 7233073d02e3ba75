// Asynchronous training in which each update adds 1 to each variable: what a variable holds is the
// number of its updates, exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "actors/actorflow.h"
#include "dataflow/ops/training_ops.h"

namespace actorflow::test {

// One replica's graph. Gradients are -1, and each of the 2 parameter servers has a variable.
struct Counting {
  Graph g;
  Variable step, a, b;
  TrainOp train;
  const int replica;

  Counting(const TaskName& worker, int number, int replicas) : replica(number) {
    g.on(replica_device_setter(2, "ps", worker.to_string()), [&] {
      step = global_step(g);
      a = g.variable("a", g.constant(0.0F));
      b = g.variable("b", g.constant(0.0F));
      train = minimize(g, g.constant(0.0F) - a - b, {a, b}, step, Sgd{1},
                       {.replica = replica, .replicas = replicas});
    });
  }
};

// How many updates of each replica a variable, or the global step, has counted; from a tensor of counts.
inline std::vector<std::int64_t> counted_by_replica(const Tensor& counts) {
  std::vector<std::int64_t> counted;
  const auto values = counts.values<std::int64_t>();
  for (std::size_t at = 0; at < values.size(); at += gradient_count_fields)
    counted.push_back(values[at]);
  return counted;
}

// Trains until this replica's steps are `steps`, and stays until those of all are, or the job is over:
// who leaves could not make again what a recovery takes back. A replica that was started again goes on
// where its earlier life was stopped. `pause` waits a moment; `made` is told how many steps there are,
// now and then.
inline void count_to(
    std::int64_t steps, MonitoredSession& session, const Counting& model,
    const std::function<void()>& pause,
    const std::function<void(std::int64_t)>& made = [](std::int64_t) {}) {
  constexpr std::int64_t at_a_time = 10;  // so that whoever is killed is most likely amid one
  while (!session.should_stop())
    session.run_step([&](StepContext& context) {
      const auto counted = counted_by_replica(context.session().run(model.train.step_counts));
      const auto mine = counted[static_cast<std::size_t>(model.replica)];
      made(mine);
      for (auto step = mine; step < std::min(steps, mine + at_a_time); ++step) context.run(model.train);
      if (mine < steps) return;
      if (model.replica == 0 && std::ranges::min(counted) >= steps)
        context.request_stop();
      else
        pause();
    });
}

// All that says how many updates there were: the variables' values, the global step, the steps and the
// updates that were counted of all replicas. They are the same number, or one was lost or counted twice.
inline std::vector<std::int64_t> witnesses(Session& session, const Counting& model) {
  const auto values = session.run({model.a, model.b, model.step});
  std::vector<std::int64_t> all{static_cast<std::int64_t>(values[0].scalar<float>()),
                                static_cast<std::int64_t>(values[1].scalar<float>()),
                                values[2].scalar<std::int64_t>()};
  auto counts = session.run(model.train.gradient_counts);
  counts.push_back(session.run(model.train.step_counts));
  for (const auto& of_all : counts) {
    const auto counted = counted_by_replica(of_all);
    all.push_back(std::accumulate(counted.begin(), counted.end(), std::int64_t{0}));
  }
  return all;
}

}  // namespace actorflow::test
