// Replicas that have all variables and reduce their gradients, beside replicas that gather them where
// the variables are.
#include <boost/test/unit_test.hpp>
#include <map>
#include <mutex>
#include <string>

#include "actors/actorflow.h"
#include "dataflow/ops/optimizer.h"
#include "dataflow/train/optimizer_choice.h"
#include "dataflow/train/replicated_state.h"
#include "kernels/ops/embedding.h"
#include "test/support/says.h"

using namespace actorflow;
using test::says;

namespace {

using Weights = std::map<std::string, Tensor>;

constexpr std::int64_t steps = 7, words = 9;

Tensor numbers(const Shape& shape, std::int64_t seed) {
  Tensor tensor = Tensor::allocate(DType::float32, shape);
  std::uint64_t x = static_cast<std::uint64_t>(seed) * 0x9E3779B97F4A7C15U + 1;
  for (float& value : tensor.mutable_values<float>()) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    value = static_cast<float>(x % 2001) / 1000 - 1;
  }
  return tensor;
}

struct Job {
  OptimizerChoice optimizer = Adam{};
  Strategy strategy = AllReduce{};
  bool has_table = true;     // an embedding, whose gradient is some rows
  int small_variables = 20;  // of an element or two
};

// loss = mean((tanh(x w + b) v)^2) + the small variables' + the table's rows, by each replica's own x.
class Program final : public ReplicaProgram {
 public:
  Program(const Server& server, const Job& job)
      : job_(job), replica_(TaskConfig::make(server.cluster(), server.name()).replica) {}

  ReplicaNodes build(Graph& g, const Replication& replication) override {
    step_ = global_step(g);
    x_ = g.placeholder(DType::float32, {4, 6});
    ids_ = g.placeholder(DType::int64, {Shape::unknown});
    const Variable w = variable(g, "w", {6, 50}), v = variable(g, "v", {50, 3}),
                   b = variable(g, "b", {50});
    Output loss = mean(square(matmul(tanh(matmul(x_, w) + b.value()), v)));
    for (int i = 0; i < job_.small_variables; ++i)
      loss =
          loss + mean(square(variable(g, "small_" + std::to_string(i), {1 + i % 2}).value() - mean(x_)));
    if (job_.has_table)
      loss = loss + mean(square(gather(variable(g, "table", {words, 2}), ids_) - mean(x_)));
    return {.train = minimize(g, loss, variables_, step_, job_.optimizer, replication),
            .loss = loss,
            .fetches = {},
            .targets = {}};
  }
  void begin(Session&, std::int64_t step) override { step_number_ = step; }
  Feeds next() override {
    const std::int64_t number = step_number_++ * 10 + replica_;
    // The replicas have rows in common, and each a different number of them.
    std::vector<std::int64_t> ids{number % words, replica_};
    for (int i = 0; i < replica_; ++i) ids.push_back((number + i) % words);
    return {{x_, numbers({4, 6}, number)}, {ids_, Tensor::of<std::int64_t>({std::ssize(ids)}, ids)}};
  }
  bool after_step(Session& session, std::int64_t step, std::span<const Tensor>) override {
    if (step == steps) weights = weights_in(session);
    return true;
  }

  Weights weights;  // after the last step, as this replica reads them

 private:
  Variable variable(Graph& g, const std::string& name, const Shape& shape) {
    variables_.push_back(g.variable(name, g.constant(numbers(shape, std::ssize(variables_)))));
    return variables_.back();
  }
  Weights weights_in(Session& session) const {
    const auto values = session.run({variables_.begin(), variables_.end()});
    Weights all;
    for (std::size_t i = 0; i < values.size(); ++i) all[variables_[i].name()] = values[i];
    return all;
  }

  const Job& job_;
  const int replica_;
  Variable step_;
  std::vector<Variable> variables_;
  Output x_, ids_;
  std::int64_t step_number_ = 0;
};

// What each replica has in the end.
std::vector<Weights> train(int replicas, const Job& job) {
  LocalCluster cluster({{"worker", replicas}});
  std::vector<Weights> all(static_cast<std::size_t>(replicas));
  static const std::atomic<bool> never{false};
  run_on_threads(cluster, replicas, [&](int task) {
    Server& server = cluster.server("worker", task);
    Program program(server, job);
    run_replica(server, program, {.strategy = job.strategy, .train_steps = steps, .ps_job = "worker"},
                never);
    all[static_cast<std::size_t>(task)] = std::move(program.weights);
  });
  return all;
}

bool same(const Weights& a, const Weights& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && identical(x.second, y.second);
  });
}

// Every replica ends with the bits that gathering where the variables are gives.
void expect_bits_of_gathering(int replicas, Job job, const std::string& what) {
  const auto reduced = train(replicas, job);
  job.strategy = Synchronous{};
  const Weights gathered = train(replicas, job)[0];
  BOOST_TEST_REQUIRE(!gathered.empty());
  for (const Weights& weights : reduced) BOOST_TEST(same(weights, gathered), what);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(all_reduced_training)

BOOST_AUTO_TEST_CASE(every_optimizer_learns_the_bits_of_gathered_gradients) {
  for (const char* name :
       {"sgd", "momentum", "nesterov", "adagrad", "adam", "rmsprop", "adamw", "lion", "ftrl", "lamb"})
    expect_bits_of_gathering(3, {.optimizer = make_optimizer(name, 0.02)}, name);
  expect_bits_of_gathering(2, {.optimizer = muon_for_matrices(Muon{}, Adam{}), .has_table = false},
                           "muon");
}

BOOST_AUTO_TEST_CASE(buckets_of_every_size_give_the_same_bits) {
  for (const std::int64_t bytes : {1, 40, 700, 1 << 20})
    for (const std::int64_t alone : {8, 1 << 20})
      expect_bits_of_gathering(
          2,
          {.strategy =
               AllReduce{.first_bucket_bytes = bytes, .bucket_bytes = 2 * bytes, .alone_bytes = alone}},
          std::to_string(bytes) + " bytes");
}

BOOST_AUTO_TEST_CASE(more_replicas_than_a_gradient_has_elements) {
  expect_bits_of_gathering(5, {}, "5");
}

BOOST_AUTO_TEST_CASE(one_replica_trains_alone) { expect_bits_of_gathering(1, {}, "1"); }

BOOST_AUTO_TEST_CASE(a_replica_whose_job_ends_before_it_has_a_session_leaves) {
  LocalCluster cluster({{"worker", 2}});
  Server& server = cluster.server("worker", 1);
  server.stop("the job is over");
  const Job job;
  Program program(server, job);
  const std::atomic<bool> never{false};
  const auto end = run_replica(
      server, program, {.strategy = job.strategy, .train_steps = steps, .ps_job = "worker"}, never);
  BOOST_TEST((end == ReplicaEnd::left));
}

BOOST_AUTO_TEST_CASE(a_variable_of_text_is_refused_by_name_of_what_cannot_travel) {
  LocalCluster cluster({{"worker", 1}});
  Graph g;
  const Variable text = g.variable("text", g.constant("a"));
  const Output copy = copy_state_of_first(g, {text}, {"/job:worker/task:0"}, 0);
  Session session(cluster.server("worker", 0).target(), g);
  session.initialize_variables();
  BOOST_CHECK_EXCEPTION(session.run({}, {}, {copy}), Error,
                        says("a variable of strings does not travel"));
}

BOOST_AUTO_TEST_CASE(all_reduce_without_tasks_is_refused) {
  Graph g;
  const Variable x = g.variable("x", g.constant(1.0F));
  BOOST_CHECK_EXCEPTION(
      minimize(g, square(x.value()), {x}, global_step(g), Sgd{}, {.strategy = AllReduce{}}), Error,
      says("all-reduce needs the tasks of the replicas"));
}

BOOST_AUTO_TEST_SUITE_END()
