// Synchronous training of an embedding: a replica that is killed between its gradient of the table and
// its dense ones comes back to a table that has moved on, and changes no bit all the same.
#include <fmt/format.h>

#include "actors/actorflow.h"
#include "actors/simulation/simulation_test.h"

BOOST_AUTO_TEST_SUITE(sparse)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t steps = 40, rows = 12, width = 8, batch = 4;

struct Model {
  Graph g;
  Variable step, dense;
  std::optional<PartitionedVariable> table;
  Output ids;
  TrainOp train;

  explicit Model(int replica) {
    g.on(replica_device_setter(2, "ps", fmt::format("/job:worker/task:{}", replica)), [&] {
      step = global_step(g);
      table = partitioned_variable(g, "table", fill(g, {rows, width}, 0.1F), fixed_size_partitioner(2));
      dense = g.variable("dense", fill(g, {width, 1}, 0.2F));
      ids = g.placeholder(DType::int64, {batch}, "ids");
      const Output error = matmul(embedding_lookup(*table, ids), dense) - fill(g, {batch, 1}, 1);
      auto variables = table->parts();
      variables.push_back(dense);
      train = minimize(g, mean(square(error)), variables, step, Adam{0.05},
                       {.replica = replica, .replicas = 3, .strategy = Synchronous{}});
    });
  }

  // Of a replica's step.
  Feeds feed(std::int64_t at, int replica) const {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < batch; ++i)
      values.push_back((at * 5 + i * (replica + 2) + replica) % rows);
    return {{ids, Tensor::of<std::int64_t>({batch}, values)}};
  }
};

// The hash of the weights, at the chief.
std::uint64_t fit(SimTask& task) {
  Server& server = task.server();
  if (server.name().job == "ps") return server.join(), 0;
  const int replica = server.name().index;
  Model m(replica);
  std::int64_t next = 0;
  MonitoredOptions options;
  options.is_chief = replica == 0;
  options.hooks = {stop_at_step(steps), sync_replicas(m.train),
                   feed_fn({.begin = [&](std::int64_t at) { next = at; },
                            .next = [&] { return m.feed(next, replica); }})};
  MonitoredSession session(server, m.g, options);
  while (!session.should_stop())
    if (const auto results = session.run(m.train.step); !results.empty())
      next = results[0].scalar<std::int64_t>();
  if (replica != 0) {
    server.announce_done({"worker", 0});
    return server.join(), 0;
  }
  server.wait_until_done({{"worker", 1}, {"worker", 2}}, 60'000);
  const auto values = session.session().run({whole(*m.table), m.dense.value()});
  const auto hash = hash_of({{"table", values[0]}, {"dense", values[1]}});
  server.shutdown_cluster("the table has been fitted");
  return hash;
}

std::uint64_t undisturbed() {
  SimCluster sim({{"ps", 2}, {"worker", 3}}, {});
  return sim.start(fit).finish("/job:worker/task:0");
}

}  // namespace

SIMULATION_TEST(a_killed_worker_changes_no_bit_of_a_table, seeds(1, 100)) {
  static const std::uint64_t expected = undisturbed();
  SimCluster sim({{"ps", 2}, {"worker", 3}});
  auto run = sim.start(fit);
  sim.at(0s).fault(FaultKind::lossy,
                   60s);  // what is lost comes 200 ms later: long after the step's other messages
  sim.apply(
      random_fault_plan(SeedScope::current()->options().seed, {{"worker", 1}},
                        {.count = 6, .until = 1500ms, .longest = 30ms, .kinds = {FaultKind::kill}}));
  BOOST_TEST(run.finish("/job:worker/task:0") == expected);
}

BOOST_AUTO_TEST_SUITE_END()
