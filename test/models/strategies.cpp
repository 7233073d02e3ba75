// fit() by several replicas beside fit() by one.
#include <sys/socket.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "actors/monitored/training_end.h"
#include "actors/named/actor_ref.h"
#include "actors/runtime/storage.h"
#include "actors/strategies/elastic_task.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(strategies)

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

// 3 epochs of 3 steps in this process, then as many by the strategy, twice.
void expect_steps_go_on(const Distribution& strategy) {
  const Folder folder;
  Model model = perceptron();
  const auto [x, y] = points_of_a_line(10);
  std::vector<std::int64_t> seen;
  FitOptions together = options(strategy);
  together.callbacks = {callback({.on_epoch_end = [&](FitContext& training, int, Logs&) {
    seen.push_back(training.model().step());
  }})};
  model.fit({x, y}, options(OneDevice{}));
  BOOST_TEST(model.step() == 9);
  model.fit({x, y}, together);
  BOOST_TEST(model.step() == 18);
  together.initial_epoch = 3;
  together.epochs = 5;
  model.fit({x, y}, together);
  BOOST_TEST(model.step() == 24);
  BOOST_TEST(seen == (std::vector<std::int64_t>{12, 15, 18, 21, 24}), boost::test_tools::per_element());
  model.save(folder.path());
  BOOST_TEST(latest_step(posix_storage(), folder.path()).value() == 24);
  Model loaded = perceptron();
  loaded.build({{DType::float32, {1}}});
  loaded.load(folder.path());
  BOOST_TEST(loaded.step() == 24);
  loaded.fit({x, y}, options(OneDevice{}));
  BOOST_TEST(loaded.step() == 33);
}

// By a parameter server of its own, with 3 steps in an epoch.
void fit_both(Model& chief, Model& worker, int epochs, const std::string& folder) {
  LocalCluster cluster({{"ps", 1}, {"chief", 1}, {"worker", 1}});
  const auto [x, y] = points_of_a_line(10);
  const auto run = [&, &x = x, &y = y](const char* job, Model& model) {
    FitOptions fit = options(ParameterServer{cluster.server(job, 0),
                                             {.strategy = Synchronous{}, .checkpoint_folder = folder}});
    fit.epochs = epochs;
    model.fit({x, y}, fit);
  };
  Model idle = perceptron();
  auto serves = std::async(std::launch::async, run, "ps", std::ref(idle));
  auto other = std::async(std::launch::async, run, "worker", std::ref(worker));
  run("chief", chief);
  other.get();
  serves.get();
}

// The last example of each batch of 4, which is the second replica's, has this label; others have 0.
std::vector<double> losses_of_batches(float label, const ReplicaOptions& replica,
                                      const Callbacks& more = {}) {
  LocalCluster cluster({{"worker", 2}});
  std::vector<double> losses;
  const auto run = [&](int task) {
    const Tensor x = Tensor::zeros(DType::float32, {8, 1});
    const Tensor y = Tensor::of<float>({8, 1}, {0, 0, 0, label, 0, 0, 0, label});
    Model model = sequential({constant_layer(0)});
    model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0}});
    FitOptions fit = quiet({.epochs = 1, .batch_size = 4, .shuffle = false});
    fit.strategy = MultiWorkerMirrored{cluster.server("worker", task), replica};
    fit.callbacks = more;
    if (task == 0)
      fit.callbacks.push_back(
          callback({.on_batch_end = [&](FitContext&, std::int64_t, const Logs& logs) {
            losses.push_back(logs.at("loss"));
          }}));
    model.fit({x, y}, fit);
  };
  run_on_threads(cluster, 2, run);
  return losses;
}

}  // namespace

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

BOOST_AUTO_TEST_CASE(the_number_of_the_step_goes_on_under_a_strategy) {
  expect_steps_go_on(Mirrored{2});
  expect_steps_go_on(Pipeline{{.stages = 2, .micro_batches = 2}});
}

BOOST_AUTO_TEST_CASE(a_model_that_only_a_strategy_has_trained_knows_its_steps) {
  const Folder folder;
  Model model = perceptron();
  const auto [x, y] = points_of_a_line(10);
  BOOST_TEST(model.step() == 0);
  model.fit({x, y}, options(Mirrored{2}));
  BOOST_TEST(model.step() == 9);
  model.save(folder.path());
  BOOST_TEST(latest_step(posix_storage(), folder.path()).value() == 9);
}

BOOST_AUTO_TEST_CASE(the_replicas_of_a_cluster_know_their_steps) {
  Model chief = perceptron(), worker = perceptron();
  const auto [x, y] = points_of_a_line(10);
  for (Model* model : {&chief, &worker}) model->fit({x, y}, options(OneDevice{}));
  fit_both(chief, worker, 2, "");
  BOOST_TEST(chief.step() == 15);
  BOOST_TEST(worker.step() == 15);
}

// Rather than save or test what is random under the number of the trained step.
BOOST_AUTO_TEST_CASE(a_task_without_the_trained_weights_uses_no_others) {
  const Folder folder;
  const Tensor x = points_of_a_line(10).first;
  const TrainingData line{x, points_of_a_line(10).second};
  const std::map<std::string, std::function<void(Model&)>> calls{
      {"evaluate", [&](Model& model) { model.evaluate(line); }},
      {"predict", [&](Model& model) { model.predict(x); }},
      {"test_on_batch", [&](Model& model) { model.test_on_batch(line); }},
      {"weights", [&](Model& model) { model.weights(); }},
      {"save", [&](Model& model) { model.save(folder.file("all")); }},
      {"save_weights", [&](Model& model) { model.save_weights(folder.file("weights")); }},
      {"export_onnx", [&](Model& model) { model.export_onnx(folder.file("onnx")); }}};
  const std::vector<std::function<void(Model&, Model&)>> cures{
      [&](Model& worker, Model&) { worker.load(folder.file("all")); },
      [&](Model& worker, Model&) { worker.load_weights(folder.file("weights")); },
      [](Model& worker, Model& chief) { worker.set_weights(chief.weights()); }};
  for (const auto& cure : cures) {
    Model chief = perceptron(), worker = perceptron();
    worker.build({{DType::float32, {1}}});
    fit_both(chief, worker, 1, "");
    for (const auto& [name, call] : calls) {
      const Status refusal = status_of([&, &call = call] { call(worker); });
      BOOST_TEST((refusal.code == Code::failed_precondition), name);
      BOOST_TEST(refusal.message.starts_with(name + ": the last fit() has given this task no trained"),
                 refusal.message);
      call(chief);
    }
    cure(worker, chief);
    BOOST_TEST(same(worker.weights(), chief.weights()));
    calls.at("evaluate")(worker);
  }
}

BOOST_AUTO_TEST_CASE(the_steps_of_a_restored_checkpoint_count_once) {
  const Folder folder;
  Model chief = perceptron(), worker = perceptron();
  fit_both(chief, worker, 2, folder.path());
  BOOST_TEST(chief.step() == 6);
  fit_both(chief, worker, 4, folder.path());  // goes on from the checkpoint of step 6
  BOOST_TEST(chief.step() == 12);
  BOOST_TEST(worker.step() == 12);
}

// Whoever restores it knows nothing of the 9 steps that were made before.
BOOST_AUTO_TEST_CASE(a_second_fit_that_is_restored_goes_on_in_its_own_epoch) {
  const Folder folder;
  const auto [x, y] = points_of_a_line(10);
  Model before = perceptron(), other = perceptron();
  before.fit({x, y}, options(OneDevice{}));
  fit_both(before, other, 2, folder.path());
  BOOST_TEST(before.step() == 15);
  Model chief = perceptron(), worker = perceptron();
  fit_both(chief, worker, 4, folder.path());
  BOOST_TEST(chief.step() == 21);
  BOOST_TEST(worker.step() == 21);
}

BOOST_AUTO_TEST_CASE(callbacks_see_what_all_replicas_have_measured_of_a_batch) {
  BOOST_TEST(losses_of_batches(2, {}) == (std::vector<double>{1, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_no_number_at_another_replica_ends_training) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const ReplicaOptions skip{.strategy = AllReduce{}, .not_finite = NotFinite::skip};
  BOOST_TEST(losses_of_batches(nan, skip).size() == 2U);
  BOOST_TEST(losses_of_batches(nan, skip, {terminate_on_nan()}).size() == 1U);
  BOOST_TEST(
      (status_of([&] { losses_of_batches(nan, {}, {terminate_on_nan()}); }).code == Code::not_finite));
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

BOOST_AUTO_TEST_CASE(a_parameter_server_that_was_told_different_things_is_refused_by_name) {
  LocalCluster cluster({{"ps", 1}, {"worker", 1}});
  const auto [x, y] = points_of_a_line(16);
  const auto run = [&, &x = x, &y = y](const char* task, int epochs, double rate) {
    Model model = sequential({dense(1)});
    model.compile({.loss = mean_squared_error(), .optimizer = Sgd{rate}});
    model.fit({x, y}, quiet({.epochs = epochs,
                             .batch_size = 8,
                             .strategy = ParameterServer{cluster.server(task, 0)}}));
  };
  auto server = std::async(std::launch::async, [&] { return error_of([&] { run("ps", 5, 0.2); }); });
  cluster.server("worker", 0).find("/job:ps/task:0", "replica settings").wait_until_there();
  const std::string worker = error_of([&] { run("worker", 3, 0.1); });
  for (const std::string& told : {worker, server.get()})
    for (const char* part : {"epochs: /job:ps/task:0 has 5, /job:worker/task:0 has 3",
                             "optimizer: /job:ps/task:0 has sgd 0.2, /job:worker/task:0 has sgd 0.1"})
      BOOST_TEST(told.find(part) != told.npos, told);
}

// It has a launcher that says nothing.
BOOST_AUTO_TEST_CASE(an_elastic_job_refuses_a_divided_optimizer_before_it_asks_for_a_world) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const FileDescriptor launcher(ends[0]);
  const auto task = std::make_shared<ElasticTask>(std::make_shared<ElasticLink>(FileDescriptor(ends[1])),
                                                  ServerOptions{});
  const ElasticMirrored divided{task, {.strategy = AllReduce{.sharded_optimizer = true}}};
  for (const char* part : {"leave out sharded_optimizer", "start a job whose tasks stay"})
    BOOST_CHECK_EXCEPTION(train(options(divided)), Error, says(part));
}

BOOST_AUTO_TEST_CASE(what_replicas_cannot_divide_is_refused) {
  BOOST_CHECK_EXCEPTION(train(options(Mirrored{3})), Error,
                        says("4 examples cannot be divided among 3 replicas; choose a multiple of 3"));
  BOOST_CHECK_EXCEPTION(train(options(Mirrored{0})), Error, says("expected 1 replica or more"));
}

BOOST_AUTO_TEST_SUITE_END()
