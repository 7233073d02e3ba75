// Replicas with data of their own, of different lengths: those whose data end earlier join.
#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "actors/client/session.h"
#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(own_data)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Numbers = std::vector<float>;
using Weights = std::map<std::string, Tensor>;

// What each replica is given: numbers x, with the labels 2 x + 1.
const std::vector<Numbers> uneven{{0.5F, -1, 2}, {1, -0.25F, 3, 0.75F, -2, 1.5F, 0.125F}};

TrainingData data_of(const Numbers& x) {
  const auto count = std::ssize(x);
  Numbers y;
  for (const float value : x) y.push_back(2 * value + 1);
  return {Tensor::of<float>({count, 1}, x), Tensor::of<float>({count, 1}, y)};
}

Model line() {
  Model model = sequential({dense(1, {}, {.regularizer = l2(0.01)})});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.05}});
  return model;
}

struct Options {
  int epochs = 2;
  std::int64_t parts = 1;
  AllReduce strategy{};
  std::string folder{};   // of checkpoints
  Callbacks callbacks{};  // of the chief
};

struct Trained {
  Weights weights;
  History history;
};

// Each replica takes 2 examples in a step.
Trained train(LocalCluster& cluster, const std::vector<Numbers>& data, Model (*make)(),
              const Options& options = {}) {
  Trained trained;
  run_on_threads(cluster, static_cast<int>(data.size()), [&](int task) {
    Model model = make();
    FitOptions fit = quiet({.epochs = options.epochs, .batch_size = 2 * std::ssize(data)});
    fit.shuffle = false;
    fit.auto_shard_policy = AutoShardPolicy::off;
    fit.gradient_accumulation_steps = options.parts;
    fit.strategy = MultiWorkerMirrored{cluster.server("worker", task),
                                       {.strategy = options.strategy,
                                        .checkpoint_folder = options.folder,
                                        .mark_end = !options.folder.empty()}};
    if (task == 0) fit.callbacks = options.callbacks;
    History history = model.fit(data_of(data[static_cast<std::size_t>(task)]), fit);
    if (task == 0) trained = {model.weights(), std::move(history)};
  });
  return trained;
}

Trained train(const std::vector<Numbers>& data, Model (*make)(), const Options& options = {}) {
  LocalCluster cluster({{"worker", static_cast<int>(data.size())}});
  return train(cluster, data, make, options);
}

double value_of(const Weights& weights, const std::string& name) {
  return weights.at(name).values<float>()[0];
}

// Of line(), as a person would compute it: a replica's gradient is of the mean over its own 2 examples
// at most, 0 when it has none, and the sum of all is divided by the number of replicas.
class ByHand {
 public:
  ByHand(double w, double b) : w_(w), b_(b) {}

  double w() const { return w_; }
  double b() const { return b_; }

  // Returns the loss: the mean over all examples.
  double epoch(const std::vector<Numbers>& data) {
    double losses = 0, examples = 0;
    for (std::size_t step = 0; step < 4; ++step) {
      double dw = 0, db = 0;
      for (const Numbers& own : data) {
        const auto count = static_cast<double>(std::min(own.size(), 2 * step + 2)) -
                           static_cast<double>(std::min(own.size(), 2 * step));
        if (count == 0) continue;
        dw += 2 * 0.01 * w_;
        losses += count * 0.01 * w_ * w_;
        for (std::size_t i = 2 * step; i < std::min(own.size(), 2 * step + 2); ++i) {
          const double error = w_ * own[i] + b_ - (2 * own[i] + 1);
          dw += 2 * error * own[i] / count;
          db += 2 * error / count;
          losses += error * error;
        }
        examples += count;
      }
      const auto replicas = static_cast<double>(data.size());
      w_ -= 0.05 * dw / replicas;
      b_ -= 0.05 * db / replicas;
    }
    return losses / examples;
  }

 private:
  double w_, b_;
};

void expect_as_by_hand(const std::vector<Numbers>& data) {
  Model before = line();
  before.build({{DType::float32, {1}}});
  ByHand expected(value_of(before.weights(), "dense/weights"),
                  value_of(before.weights(), "dense/biases"));
  const Trained trained = train(data, line);
  for (const double loss : trained.history.of("loss"))
    BOOST_TEST(loss == expected.epoch(data), boost::test_tools::tolerance(1e-5));
  BOOST_TEST(value_of(trained.weights, "dense/weights") == expected.w(),
             boost::test_tools::tolerance(1e-5));
  BOOST_TEST(value_of(trained.weights, "dense/biases") == expected.b(),
             boost::test_tools::tolerance(1e-5));
}

// A variable of line() on the task of a replica, once that has made so many steps.
Tensor weights_at(Server& server, const std::string& task, std::int64_t steps) {
  Graph g;
  std::array<Output, 2> values;
  g.on(task, [&] {
    values[0] = g.variable("dense/weights", g.constant(Tensor::zeros(DType::float32, {1, 1})));
    values[1] = g.variable("global_step", g.constant(std::int64_t{0}));
  });
  Session session(server.target(), g);
  while (session.run(values[1]).scalar<std::int64_t>() < steps)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return session.run(values[0]);
}

Model normalising() {
  Model model = sequential({batch_norm(), dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.05}});
  return model;
}

Model reciprocals() {
  Model model = sequential(
      {Layer("reciprocal", [](LayerScope&, Output x) { return scalar_like(x, 1) / x; }), dense(1)});
  const Metric relative{"relative",
                        [](Output y, Output labels) { return mean(abs((y - labels) / labels)); }};
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.01}, .metrics = {relative}});
  return model;
}

double moving_mean(const std::vector<Numbers>& data, std::int64_t parts) {
  return value_of(train(data, normalising, {.epochs = 1, .parts = parts}).weights,
                  "batch_norm/moving_mean");
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_replica_that_has_joined_adds_zeros_to_a_mean_over_all) {
  expect_as_by_hand(uneven);
  expect_as_by_hand({uneven[1], uneven[0]});
}

BOOST_AUTO_TEST_CASE(all_replicas_have_the_same_bits_in_the_end) {
  LocalCluster cluster({{"worker", 3}});
  std::vector<Tensor> ends;
  const auto look = callback({.on_train_end = [&](FitContext& training) {
    for (int task = 0; task < 3; ++task)
      ends.push_back(weights_at(cluster.server("worker", 0), "/job:worker/task:" + std::to_string(task),
                                training.model().step()));
  }});
  const Trained trained = train(cluster, {uneven[0], uneven[1], {4, 5}}, line, {.callbacks = {look}});
  BOOST_REQUIRE(ends.size() == 3U);
  for (const Tensor& end : ends) BOOST_TEST(identical(end, trained.weights.at("dense/weights")));
}

BOOST_AUTO_TEST_CASE(a_sharded_optimizer_learns_the_same_bits) {
  BOOST_TEST(same(train(uneven, line, {.strategy = {.sharded_optimizer = true}}).weights,
                  train(uneven, line).weights));
}

BOOST_AUTO_TEST_CASE(micro_batches_learn_what_whole_batches_learn) {
  const Trained whole = train(uneven, line), parts = train(uneven, line, {.parts = 2});
  for (const auto& [name, value] : whole.weights)
    BOOST_TEST(value_of(parts.weights, name) == value_of(whole.weights, name),
               boost::test_tools::tolerance(1e-5));
  BOOST_TEST(parts.history.of("loss").back() == whole.history.of("loss").back(),
             boost::test_tools::tolerance(1e-5));
}

// Which a network of zeros would make into no numbers.
BOOST_AUTO_TEST_CASE(a_step_without_data_computes_with_an_example_of_the_replica) {
  for (const std::int64_t parts : {1, 2}) {
    const Trained trained = train(uneven, reciprocals, {.parts = parts});
    BOOST_TEST(std::isfinite(value_of(trained.weights, "dense/weights")));
    for (const double loss : trained.history.of("loss")) BOOST_TEST(std::isfinite(loss));
    for (const double error : trained.history.of("relative")) BOOST_TEST(std::isfinite(error));
  }
}

BOOST_AUTO_TEST_CASE(a_longer_training_in_the_folder_of_a_complete_one_goes_on) {
  const Folder folder;
  const auto until = [&](int epochs) {
    return train(uneven, line, {.epochs = epochs, .folder = folder.path()}).weights;
  };
  const Weights first = until(2);
  BOOST_TEST(!same(until(4), first));
  const Weights last = until(4);  // complete: nobody trains
  BOOST_TEST(same(until(4), last));
}

// The averages are of the first replica's batches, of which there is one.
BOOST_AUTO_TEST_CASE(averages_stay_when_the_data_of_their_replica_have_ended) {
  for (const std::int64_t parts : {1, 2}) {
    const double alone = moving_mean({{2, 4}, {1, 1}}, parts);
    BOOST_TEST(alone != 0);
    BOOST_TEST(moving_mean({{2, 4}, {1, 1, 5, 7, 8}}, parts) == alone);
  }
}

BOOST_AUTO_TEST_CASE(replicas_that_were_told_different_things_are_refused_by_name) {
  LocalCluster cluster({{"worker", 2}});
  Model model = line();
  FitOptions fit = quiet({.batch_size = 2});
  fit.auto_shard_policy = AutoShardPolicy::off;
  fit.strategy = MultiWorkerMirrored{cluster.server("worker", 0), {.connect_timeout_ms = 100}};
  BOOST_CHECK_EXCEPTION(model.fit(data_of(uneven[0]), fit), Error,
                        says("/job:worker/task:1 has not said within 100 ms how many examples"));
}

BOOST_AUTO_TEST_CASE(a_chief_that_waits_in_vain_for_a_size_tells_the_others) {
  LocalCluster cluster({{"worker", 3}});
  const auto fit = [&cluster](int task, std::int64_t timeout_ms) {
    Model model = line();
    FitOptions options = quiet({.batch_size = 6, .shuffle = false});
    options.auto_shard_policy = AutoShardPolicy::off;
    options.strategy =
        MultiWorkerMirrored{cluster.server("worker", task), {.connect_timeout_ms = timeout_ms}};
    model.fit(data_of(uneven[static_cast<std::size_t>(task)]), options);
  };
  auto worker = std::async(std::launch::async, fit, 1, 60'000);
  BOOST_CHECK_EXCEPTION(fit(0, 100), Error, says("/job:worker/task:2 has not said within 100 ms"));
  BOOST_CHECK_EXCEPTION(worker.get(), Error,
                        says("the chief failed: fit: /job:worker/task:2 has not said within 100 ms"));
}

BOOST_AUTO_TEST_CASE(other_strategies_are_refused) {
  Model model = line();
  FitOptions fit = quiet({.batch_size = 2, .strategy = Mirrored{2}});
  fit.auto_shard_policy = AutoShardPolicy::off;
  BOOST_CHECK_EXCEPTION(model.fit(data_of(uneven[0]), fit), Error, says("is for MultiWorkerMirrored"));
  LocalCluster cluster({{"worker", 1}});
  fit.strategy =
      MultiWorkerMirrored{cluster.server("worker", 0), {.strategy = AllReduce{.local_steps = 2}}};
  BOOST_CHECK_EXCEPTION(model.fit(data_of(uneven[0]), fit), Error, says("local_steps is 2"));
}

BOOST_AUTO_TEST_SUITE_END()
