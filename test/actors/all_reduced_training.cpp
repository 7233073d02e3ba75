// Replicas that have all variables and reduce their gradients, beside replicas that gather them where
// the variables are.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <string>

#include "actors/actorflow.h"
#include "actors/shard/slot_slices.h"
#include "dataflow/ops/optimizer.h"
#include "dataflow/ops/sliced_ops.h"
#include "dataflow/train/optimizer_choice.h"
#include "dataflow/train/replicated_state.h"
#include "kernels/ops/embedding.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(all_reduced_training)

using namespace actorflow;
using test::Folder, test::says;

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
  NotFinite not_finite = NotFinite::fail;
  std::int64_t nan_at = -1;  // the step in which the second replica's examples are not finite
  std::int64_t until = steps;
  std::string folder{};  // of checkpoints
};

constexpr AllReduce sharded{.sharded_optimizer = true};

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
    const TrainOp train = minimize(g, loss, variables_, step_, job_.optimizer, replication);
    if (const ShardedOptimizer all = sharded_optimizer(g.def())) {
      Attrs attrs = slice_attrs(all.sliced);
      attrs["rank"] = std::int64_t{all.rank};
      slots_ = g.add(read_slot_slices_op(), {step_.value()}, attrs);
    }
    return {.train = train, .loss = loss, .fetches = {}, .targets = {}};
  }
  void begin(Session&, std::int64_t step) override { step_number_ = step; }
  Feeds next() override {
    const std::int64_t number = step_number_++ * 10 + replica_;
    // The replicas have rows in common, and each a different number of them.
    std::vector<std::int64_t> ids{number % words, replica_};
    for (int i = 0; i < replica_; ++i) ids.push_back((number + i) % words);
    Tensor x = numbers({4, 6}, number);
    if (step_number_ == job_.nan_at + 1 && replica_ == 1)
      x.mutable_values<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    return {{x_, x}, {ids_, Tensor::of<std::int64_t>({std::ssize(ids)}, ids)}};
  }
  bool after_step(Session& session, std::int64_t step, std::span<const Tensor>) override {
    if (step == job_.until) weights = weights_in(session);
    if (step == job_.until && slots_) slot_elements = slots_in(session);
    return true;
  }

  // After the last step, as this replica reads them.
  Weights weights;
  std::int64_t slot_elements = 0;

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

  std::int64_t slots_in(Session& session) const {
    const auto names = sharded_optimizer(slots_.graph->def()).sliced.variables.size();
    std::int64_t elements = 0;
    for (auto& state : decode_states(session.run(slots_), names))
      for (const Tensor& slot : decoded(std::move(state)).slots)
        if (slot.dtype() == DType::float32) elements += slot.elements();
    return elements;
  }

  const Job& job_;
  const int replica_;
  Output slots_;
  Variable step_;
  std::vector<Variable> variables_;
  Output x_, ids_;
  std::int64_t step_number_ = 0;
};

// What each replica has in the end.
std::vector<Weights> train(int replicas, const Job& job,
                           std::vector<std::int64_t>* slot_elements = nullptr) {
  LocalCluster cluster({{"worker", replicas}});
  std::vector<Weights> all(static_cast<std::size_t>(replicas));
  if (slot_elements) slot_elements->resize(all.size());
  static const std::atomic<bool> never{false};
  run_on_threads(cluster, replicas, [&](int task) {
    Server& server = cluster.server("worker", task);
    Program program(server, job);
    run_replica(server, program,
                {.strategy = job.strategy,
                 .not_finite = job.not_finite,
                 .train_steps = job.until,
                 .ps_job = "worker",
                 .checkpoint_folder = job.folder},
                never);
    all[static_cast<std::size_t>(task)] = std::move(program.weights);
    if (slot_elements) (*slot_elements)[static_cast<std::size_t>(task)] = program.slot_elements;
  });
  return all;
}

bool same(const Weights& a, const Weights& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && identical(x.second, y.second);
  });
}

double largest_difference(const Weights& a, const Weights& b) {
  BOOST_REQUIRE(a.size() == b.size());
  double largest = 0;
  for (const auto& [name, x] : a) {
    const auto values = x.values<float>(), others = b.at(name).values<float>();
    BOOST_REQUIRE(values.size() == others.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      largest = std::max<double>(largest, std::abs(values[i] - others[i]));
  }
  return largest;
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

// So many gradients are gathered by a sum that has other bits than an all-reduce (accumulator.h).
BOOST_AUTO_TEST_CASE(more_replicas_than_a_gradient_has_elements) {
  Job job;
  const auto reduced = train(5, job);
  for (const Weights& weights : reduced) BOOST_TEST(same(weights, reduced[0]));
  job.strategy = Synchronous{};
  BOOST_TEST(largest_difference(reduced[0], train(5, job)[0]) < 1e-5);
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

// Whole or in slices, every replica learns the same; and nearly what it learns without.
BOOST_AUTO_TEST_CASE(gradients_that_travel_as_bfloat16_train_all_replicas_alike) {
  const auto trained = [](bool slices, ReduceCompression compression) {
    return train(3, {.strategy = AllReduce{.sharded_optimizer = slices, .compression = compression}});
  };
  const auto whole = trained(false, ReduceCompression::bfloat16);
  const auto sliced = trained(true, ReduceCompression::bfloat16);
  const Weights exact = trained(false, ReduceCompression::none)[0];
  BOOST_TEST_REQUIRE(!exact.empty());
  for (const auto* of : {&whole, &sliced})
    for (const Weights& weights : *of) BOOST_TEST(same(weights, whole[0]));
  BOOST_TEST(!same(whole[0], exact));
  for (const auto& [name, values] : exact)
    for (std::size_t i = 0; i < values.values<float>().size(); ++i)
      BOOST_TEST(std::abs(values.values<float>()[i] - whole[0].at(name).values<float>()[i]) < 0.01,
                 name);
}

BOOST_AUTO_TEST_CASE(a_sharded_optimizer_learns_the_same_bits) {
  for (const char* name :
       {"sgd", "momentum", "nesterov", "adagrad", "adam", "rmsprop", "adamw", "lion", "ftrl", "lamb"})
    expect_bits_of_gathering(3, {.optimizer = make_optimizer(name, 0.02), .strategy = sharded}, name);
  expect_bits_of_gathering(
      2, {.optimizer = muon_for_matrices(Muon{}, Adam{}), .strategy = sharded, .has_table = false},
      "muon");
}

BOOST_AUTO_TEST_CASE(sharded_buckets_of_every_size_give_the_same_bits) {
  for (const std::int64_t bytes : {1, 40, 1 << 20})
    for (const std::int64_t alone : {8, 1 << 20})
      expect_bits_of_gathering(2,
                               {.strategy = AllReduce{.first_bucket_bytes = bytes,
                                                      .bucket_bytes = 2 * bytes,
                                                      .alone_bytes = alone,
                                                      .sharded_optimizer = true}},
                               std::to_string(bytes) + " bytes");
  const Weights whole = train(5, {})[0];  // more ranks than elements
  for (const Weights& weights : train(5, {.strategy = sharded})) BOOST_TEST(same(weights, whole));
  expect_bits_of_gathering(1, {.strategy = sharded}, "1 rank");
}

// 500 + 30 elements of two slots, and those of no table.
BOOST_AUTO_TEST_CASE(slots_are_divided_by_the_number_of_replicas) {
  for (const int replicas : {1, 2, 3, 4}) {
    std::vector<std::int64_t> elements;
    train(replicas, {.strategy = sharded, .has_table = false}, &elements);
    const std::int64_t all = 2 * (6 * 50 + 50 * 3 + 50 + 30);
    BOOST_TEST(std::accumulate(elements.begin(), elements.end(), std::int64_t{0}) == all);
    BOOST_TEST(std::ranges::max(elements) <= all / replicas + 2);
  }
}

BOOST_AUTO_TEST_CASE(a_sharded_gradient_that_is_not_finite_is_left_out_by_all) {
  Job job{.not_finite = NotFinite::skip, .nan_at = 3};
  const Weights expected = train(3, job)[0];
  job.strategy = sharded;
  for (const Weights& weights : train(3, job)) BOOST_TEST(same(weights, expected));
  job.nan_at = -1;
  BOOST_TEST(!same(train(3, job)[0], expected));
}

BOOST_AUTO_TEST_CASE(a_sharded_gradient_that_is_not_finite_fails_the_job_with_its_name) {
  BOOST_CHECK_EXCEPTION(train(2, {.strategy = sharded, .nan_at = 3}), Error,
                        says("of a gradient of variable '"));
}

// Saved with another number of replicas, and without sharding: one checkpoint, the same bits.
BOOST_AUTO_TEST_CASE(a_checkpoint_of_a_sharded_optimizer_is_like_any_other) {
  const auto saved = [](const Job& job, int replicas) {
    const Folder folder;
    Job first = job;
    first.folder = folder.path();
    train(replicas, first);
    return load_latest_checkpoint(posix_storage(), folder.path())->tensors;
  };
  for (const char* name : {"adam", "lamb", "ftrl"}) {
    const Job plain{.optimizer = make_optimizer(name, 0.02)};
    Job divided = plain;
    divided.strategy = sharded;
    const auto expected = saved(plain, 3), tensors = saved(divided, 3);
    BOOST_TEST(expected.size() == tensors.size(), name);
    BOOST_TEST(hash_of(expected) == hash_of(tensors), name);
  }
}

BOOST_AUTO_TEST_CASE(training_goes_on_from_a_sharded_checkpoint_under_any_strategy_and_size) {
  const auto continued = [](const Strategy& before, const Strategy& after, int replicas) {
    const Folder folder;
    Job job{.strategy = before, .folder = folder.path()};
    train(3, job);
    job.strategy = after;
    job.until = 2 * steps;
    return train(replicas, job);
  };
  for (const int replicas : {1, 2, 4}) {
    const Weights expected = continued(AllReduce{}, Synchronous{}, replicas)[0];
    for (const auto& [before, after] : {std::pair<Strategy, Strategy>{sharded, AllReduce{}},
                                        {sharded, Synchronous{}},
                                        {AllReduce{}, sharded},
                                        {sharded, sharded}})
      for (const Weights& weights : continued(before, after, replicas))
        BOOST_TEST(same(weights, expected), replicas << " replicas");
  }
}

// A step that has failed may have changed slots already.
BOOST_AUTO_TEST_CASE(no_slot_has_the_update_of_a_step_twice) {
  LocalCluster cluster({{"worker", 1}});
  Graph g;
  g.on("/job:worker/task:0", [&] { g.variable("w", g.constant(Tensor{1.F, 2.F})); });
  const SlicedVariables sliced{{"w"}, 1, {0, 2}};
  Attrs attrs = slice_attrs(sliced);
  attrs.insert({{"rank", std::int64_t{0}},
                {"ranks", std::string("/job:worker/task:0")},
                {"optimizer", std::string("momentum")},
                {"hyperparameters", Optimizer(Momentum{}).hyperparameters()},
                {"skip_not_finite", false}});
  const Output step = g.placeholder(DType::int64, {});
  const Output none = g.constant(Tensor::zeros(DType::int64, {1}));
  const Output update = g.on("/job:worker/task:0", [&] {
    return g.add(update_slices_op(), {g.constant(Tensor{1.F, 1.F}), none, step}, attrs);
  });
  Session session(cluster.server("worker", 0).target(), g);
  session.initialize_variables();
  const auto run = [&](std::int64_t number) {
    return session.run(update, {{step, Tensor::scalar(number)}});
  };
  run(0);
  BOOST_CHECK_EXCEPTION(run(0), Error, says("the slots of 'w' are as after step 1"));
  BOOST_CHECK_NO_THROW(run(1));
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
