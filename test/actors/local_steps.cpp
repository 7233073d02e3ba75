// Replicas that step alone, and agree now and then on what they have changed.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/strategies/distributed_optimizer.h"
#include "kernels/ops/embedding.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(local_steps)

using namespace actorflow;
using test::says;

namespace {

using Values = std::vector<double>;

constexpr std::int64_t size = 3, steps = 10, words = 5;
constexpr double rate = 0.05;

struct Job {
  AllReduce strategy{};
  OptimizerChoice optimizer = Sgd{rate};
};

AllReduce rounds_of(int local_steps, Nesterov outer = {.learning_rate = 0.7, .momentum = 0.9}) {
  AllReduce strategy;
  strategy.local_steps = local_steps;
  strategy.outer = outer;
  return strategy;
}

// What w is drawn to, by a replica in a step.
float target(int replica, std::int64_t step, std::int64_t element) {
  return std::sin(static_cast<float>(100 * replica + 10 * step + element));
}

// loss = mean((w - target)^2) + the mean square of some of the table's rows.
class Program final : public ReplicaProgram {
 public:
  explicit Program(const Server& server, const Job& job)
      : job_(job), replica_(TaskConfig::make(server.cluster(), server.name()).replica) {}

  ReplicaNodes build(Graph& g, const Replication& replication) override {
    const Variable step = global_step(g);
    target_ = g.placeholder(DType::float32, {size});
    ids_ = g.placeholder(DType::int64, {2});
    w_ = g.variable("w", g.constant(Tensor::of<float>({size}, std::vector<float>{1, 2, 3})));
    const std::vector<float> ones(static_cast<std::size_t>(2 * words), 1.F);
    table_ = g.variable("table", g.constant(Tensor::of<float>({words, 2}, ones)));
    const Output loss = mean(square(w_ - target_)) + mean(square(gather(table_, ids_)));
    const TrainOp train = minimize(g, loss, {w_, table_}, step, job_.optimizer, replication);
    return {.train = train, .loss = loss, .fetches = {}, .targets = {}};
  }
  void begin(Session&, std::int64_t step) override { step_ = step; }
  Feeds next() override {
    std::vector<float> values;
    for (std::int64_t i = 0; i < size; ++i) values.push_back(target(replica_, step_, i));
    const std::vector<std::int64_t> ids{step_ % words, replica_ % words};
    ++step_;
    return {{target_, Tensor::of<float>({size}, values)}, {ids_, Tensor::of<std::int64_t>({2}, ids)}};
  }
  bool after_step(Session& session, std::int64_t step, std::span<const Tensor>) override {
    if (step == steps) learned = session.run({w_, table_});
    return true;
  }

  std::vector<Tensor> learned;  // w and the table after the last step

 private:
  const Job& job_;
  const int replica_;
  Output target_, ids_;
  Variable w_, table_;
  std::int64_t step_ = 0;
};

std::vector<std::vector<Tensor>> train(int replicas, const Job& job) {
  LocalCluster cluster({{"worker", replicas}});
  std::vector<std::vector<Tensor>> all(static_cast<std::size_t>(replicas));
  static const std::atomic<bool> never{false};
  run_on_threads(cluster, replicas, [&](int task) {
    Server& server = cluster.server("worker", task);
    Program program(server, job);
    run_replica(server, program, {.strategy = job.strategy, .train_steps = steps, .ps_job = "worker"},
                never);
    all[static_cast<std::size_t>(task)] = std::move(program.learned);
  });
  return all;
}

// Algorithm 1 of the paper for w, with plain descent inside.
Values by_the_paper(int replicas, const AllReduce& strategy) {
  Values agreed{1, 2, 3}, momentum(size, 0.0);
  for (std::int64_t done = 0; done < steps; done += strategy.local_steps) {
    const std::int64_t end = std::min<std::int64_t>(steps, done + strategy.local_steps);
    for (std::int64_t i = 0; i < size; ++i) {
      const auto at = static_cast<std::size_t>(i);
      double change = 0;
      for (int replica = 0; replica < replicas; ++replica) {
        double w = agreed[at];
        for (std::int64_t step = done; step < end; ++step)
          w -= rate * 2 / size * (w - target(replica, step, i));
        change += (agreed[at] - w) / replicas;
      }
      momentum[at] = strategy.outer.momentum * momentum[at] + change;
      agreed[at] -= strategy.outer.learning_rate * (change + strategy.outer.momentum * momentum[at]);
    }
  }
  return agreed;
}

}  // namespace

BOOST_AUTO_TEST_CASE(replicas_learn_what_the_paper_says) {
  for (const int replicas : {1, 3})
    for (const int local_steps : {2, 4, 20})  // the last round has steps / 2 of them, 2, and all
      for (const Nesterov outer : {Nesterov{0.7, 0.9}, Nesterov{1, 0}}) {
        const AllReduce strategy = rounds_of(local_steps, outer);
        const auto learned = train(replicas, {.strategy = strategy});
        const Values expected = by_the_paper(replicas, strategy);
        for (const auto& of_replica : learned)
          for (std::size_t i = 0; i < expected.size(); ++i)
            BOOST_TEST(of_replica[0].values<float>()[i] == expected[i],
                       boost::test_tools::tolerance(1e-5)
                           << replicas << " replicas, " << local_steps << " steps");
      }
}

BOOST_AUTO_TEST_CASE(all_end_with_the_same_bits) {
  AllReduce rounded = rounds_of(3), small = rounds_of(3);
  rounded.compression = ReduceCompression::bfloat16;
  small.first_bucket_bytes = small.bucket_bytes = small.alone_bytes = 4;
  for (const auto& strategy : {rounds_of(3), rounded, small})
    for (const char* optimizer : {"sgd", "adam", "adamw", "rmsprop", "lion"}) {
      const auto learned = train(4, {strategy, make_optimizer(optimizer, 0.02)});
      for (const auto& of_replica : learned) {
        BOOST_TEST_REQUIRE(of_replica.size() == 2U);
        for (std::size_t i = 0; i < 2; ++i)
          BOOST_TEST(identical(of_replica[i], learned[0][i]), optimizer);
      }
    }
}

BOOST_AUTO_TEST_CASE(a_distributed_optimizer_has_none) {
  LocalCluster cluster({{"worker", 2}});
  BOOST_CHECK_EXCEPTION(
      DistributedOptimizer(cluster.server("worker", 0), Sgd{}, {.buckets = rounds_of(2)}), Error,
      says("buckets.local_steps is 2"));
}

BOOST_AUTO_TEST_SUITE_END()
