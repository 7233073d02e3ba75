// fit() by several replicas beside fit() by one.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <future>
#include <thread>

#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

Model perceptron() {
  Model model = sequential({dense(8, tanh), dense(1, {}, {.regularizer = l2(0.01)})});
  model.compile({.loss = mean_squared_error(),
                 .optimizer = Momentum{0.05, 0.9},
                 .metrics = {metric_of(mean_absolute_error())}});
  return model;
}

// 10 examples in batches of 4: the last one has 2, of which a third replica gets none.
FitOptions options(Distribution strategy, std::int64_t batch_size = 4) {
  const auto [x, y] = points_of_a_line(6);
  return quiet({.epochs = 3,
                .batch_size = batch_size,
                .validation_data = TrainingData{x, y},
                .strategy = std::move(strategy)});
}

struct Trained {
  History history;
  std::map<std::string, Tensor> weights;
  double loss = 0;
};

Trained train(const FitOptions& options, std::int64_t examples = 10) {
  Model model = perceptron();
  const auto [x, y] = points_of_a_line(examples);
  History history = model.fit({x, y}, options);
  return {std::move(history), model.weights(), model.evaluate({x, y}).at("loss")};
}

void expect_close(const Trained& ours, const Trained& alone) {
  for (const char* name : {"loss", "mean_absolute_error", "val_loss", "val_mean_absolute_error"})
    for (std::size_t epoch = 0; epoch < 3; ++epoch)
      BOOST_TEST(std::abs(ours.history.of(name).at(epoch) - alone.history.of(name).at(epoch)) < 1e-5,
                 name << " of epoch " << epoch + 1 << ": " << ours.history.of(name)[epoch] << " and "
                      << alone.history.of(name)[epoch]);
  for (const auto& [name, value] : alone.weights)
    for (std::size_t i = 0; i < value.values<float>().size(); ++i)
      BOOST_TEST(std::abs(ours.weights.at(name).values<float>()[i] - value.values<float>()[i]) < 1e-5F);
  BOOST_TEST(std::abs(ours.loss - alone.loss) < 1e-5);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(strategies)

BOOST_AUTO_TEST_CASE(mirrored_replicas_learn_as_one_device) {
  const Trained alone = train(options(OneDevice{}));
  for (const int replicas : {1, 2, 4}) expect_close(train(options(Mirrored{replicas})), alone);
}

BOOST_AUTO_TEST_CASE(a_replica_without_examples_of_the_last_batch_adds_nothing) {
  expect_close(train(options(Mirrored{3}, 6), 7), train(options(OneDevice{}, 6), 7));
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_bits) {
  BOOST_TEST(same(train(options(Mirrored{2})).weights, train(options(Mirrored{2})).weights));
}

BOOST_AUTO_TEST_CASE(replicas_that_step_alone_agree_before_an_epoch_is_validated) {
  const ReplicaOptions alone{
      .strategy = AllReduce{.local_steps = 1000, .outer = {.learning_rate = 1, .momentum = 0}}};
  const auto loss_of_first_epoch = [&](int epochs) {
    LocalCluster cluster({{"worker", 2}});
    const auto run = [&](int task) {
      FitOptions fit = options(MultiWorkerMirrored{cluster.server("worker", task), alone});
      fit.epochs = epochs;
      const auto [x, y] = points_of_a_line(10);
      return perceptron().fit({x, y}, fit);
    };
    auto other = std::async(std::launch::async, run, 1);
    const double loss = run(0).of("val_loss").at(0);
    other.get();
    return loss;
  };
  // After the last step they agree anyway.
  BOOST_TEST(loss_of_first_epoch(3) == loss_of_first_epoch(1));
}

BOOST_AUTO_TEST_CASE(parameter_servers_learn_as_one_device) {
  LocalCluster cluster({{"ps", 2}, {"chief", 1}, {"worker", 1}});
  const auto [x, y] = points_of_a_line(10);
  const auto run = [&, &x = x, &y = y](const char* job, int task) {
    Model model = perceptron();
    History history = model.fit({x, y}, options(ParameterServer{cluster.server(job, task)}));
    if (std::string(job) != "chief") return Trained{std::move(history), {}, 0};
    return Trained{std::move(history), model.weights(), model.evaluate({x, y}).at("loss")};
  };
  std::vector<std::future<Trained>> others;
  for (const auto& [job, task] : {std::pair{"ps", 0}, {"ps", 1}, {"worker", 0}})
    others.push_back(std::async(std::launch::async, run, job, task));
  expect_close(run("chief", 0), train(options(OneDevice{})));
  for (auto& other : others) BOOST_TEST(other.get().history.epochs.empty());
}

BOOST_AUTO_TEST_CASE(asynchronous_replicas_learn_too) {
  LocalCluster cluster({{"ps", 1}, {"worker", 2}});
  const auto [x, y] = points_of_a_line(64);
  Model model = sequential({dense(1)});
  std::vector<int> epochs;
  const auto run = [&, &x = x, &y = y](const char* job, int task, Model& of_task) {
    of_task.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.05}});
    return of_task.fit(
        {x, y},
        quiet({.epochs = 30,
               .batch_size = 8,
               .strategy = ParameterServer{cluster.server(job, task), {.strategy = Asynchronous{}}}}));
  };
  std::vector<std::jthread> others;
  for (const auto& [job, task] : {std::pair{"ps", 0}, {"worker", 1}})
    others.emplace_back([&run, job = job, task = task] {
      Model own = sequential({dense(1)});
      run(job, task, own);
    });
  const History history = run("worker", 0, model);
  BOOST_TEST(history.epochs.size() == 30U);
  BOOST_TEST(history.of("loss").back() < 0.01);
  BOOST_TEST(model.weights().at("dense/weights").values<float>()[0] == 2.F,
             boost::test_tools::tolerance(0.1F));
}

BOOST_AUTO_TEST_CASE(the_chief_alone_decides_to_stop) {
  const auto made = callback({.on_epoch_end = [](FitContext&, int epoch, Logs& logs) {
    logs.set("val_loss", epoch == 2 ? 0.5 : 1);
  }});
  FitOptions fit = options(Mirrored{2});
  fit.epochs = 50;
  fit.callbacks = {made, early_stopping({.patience = 2, .restore_best_weights = true})};
  const Trained stopped = train(fit);
  BOOST_TEST(stopped.history.epochs.size() == 4U);
  FitOptions two = options(Mirrored{2});
  two.epochs = 2;
  BOOST_TEST(same(stopped.weights, train(two).weights));
}

BOOST_AUTO_TEST_CASE(a_checkpoint_of_one_strategy_is_restored_under_another) {
  const Folder folder;
  FitOptions together = options(Mirrored{2});
  together.callbacks = {model_checkpoint(folder.path())};
  const Trained trained = train(together);
  Model model = perceptron();
  model.build({{DType::float32, {1}}});
  model.load(folder.path());
  BOOST_TEST(same(model.weights(), trained.weights));
}

BOOST_AUTO_TEST_CASE(replicas_that_were_told_different_things_are_refused_by_name) {
  LocalCluster cluster({{"worker", 2}});
  const auto [x, y] = points_of_a_line(16);
  const auto run = [&, &x = x, &y = y](int task, double rate) {
    Model model = sequential({dense(1)});
    model.compile({.loss = mean_squared_error(), .optimizer = Sgd{rate}});
    model.fit({x, y},
              quiet({.batch_size = 8, .strategy = MultiWorkerMirrored{cluster.server("worker", task)}}));
  };
  std::jthread chief([&] {
    try {
      run(0, 0.1);
    } catch (const Error&) {  // its steps wait for the other replica until it is stopped
    }
  });
  BOOST_CHECK_EXCEPTION(
      run(1, 0.2), Error,
      says("optimizer: /job:worker/task:1 has sgd 0.2, /job:worker/task:0 has sgd 0.1"));
  cluster.server("worker", 0).stop("the test is over");
}

BOOST_AUTO_TEST_CASE(what_replicas_cannot_divide_is_refused) {
  BOOST_CHECK_EXCEPTION(train(options(Mirrored{3})), Error,
                        says("4 examples cannot be divided among 3 replicas; choose a multiple of 3"));
  BOOST_CHECK_EXCEPTION(train(options(Mirrored{0})), Error, says("expected 1 replica or more"));
}

BOOST_AUTO_TEST_SUITE_END()
