// How fit() ends: what an interrupted training keeps, and what the last checkpoint of a cluster has.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "actors/monitored/training_end.h"
#include "actors/runtime/storage.h"
#include "test/models/support/each_strategy.h"
#include "test/models/support/step_counter.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(training_ends)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Weights = std::map<std::string, Tensor>;

Model perceptron() {
  Model model = sequential(input({1}), {dense(6, tanh), dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.05}});
  return model;
}

// Interrupts training after its fourth step, the first of the second epoch.
struct Interrupter {
  std::atomic<bool> wanted = false;
  Weights weights;  // when it came
  std::int64_t step = 0;
  std::vector<int> epochs;  // that ended, whole or not
  int ends = 0;  // calls of on_train_end() that know of it

  CallbackRef callback() {
    return actorflow::callback(
        {.on_batch_end =
             [this](FitContext& training, std::int64_t, const Logs&) {
               step = training.model().step();
               if (step < 4) return;
               weights = training.model().weights();
               wanted = true;
             },
         .on_epoch_end = [this](FitContext&, int epoch, Logs&) { epochs.push_back(epoch); },
         .on_train_end = [this](FitContext& training) { ends += training.interrupted() ? 1 : 10; }});
  }
};

// Of the model, without slots and numbers.
Weights weights_in(const Checkpoint& checkpoint) {
  Weights weights;
  for (const auto& [name, value] : perceptron().weights()) weights[name] = checkpoint.tensors.at(name);
  return weights;
}

// Two workers that save into a folder make 9 steps, 3 in each epoch.
struct SavingJob {
  std::string folder;
  std::int64_t save_steps = 100;
  const std::atomic<bool>* interrupted = nullptr;

  // Returns what the chief has in the end.
  Weights train(const Callbacks& callbacks) const {
    LocalCluster cluster({{"worker", 2}});
    Weights weights;
    run_on_threads(cluster, 2, [&](int task) {
      Model model = perceptron();
      fit(model, cluster, task, task == 0 ? callbacks : Callbacks{});
      if (task == 0) weights = model.weights();
    });
    return weights;
  }

  void fit(Model& model, LocalCluster& cluster, int task, const Callbacks& callbacks = {}) const {
    const auto [x, y] = points_of_a_line(10);
    FitOptions options = quiet({.epochs = 3, .batch_size = 4, .interrupted = interrupted});
    options.callbacks = callbacks;
    options.strategy = MultiWorkerMirrored{
        cluster.server("worker", task),
        {.checkpoint_folder = folder, .save_checkpoint = {.steps = save_steps}, .mark_end = true}};
    model.fit({x, y}, options);
  }

  Weights saved() const { return weights_in(load_latest_checkpoint(posix_storage(), folder).value()); }
};

Callbacks restoring_the_second_epoch() {
  return {made_up({0.2, 0.1, 0.3}), early_stopping({.patience = 5, .restore_best_weights = true})};
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_interrupted_model_has_what_it_learned_under_each_strategy) {
  const auto [x, y] = points_of_a_line(10);
  for (const auto& [name, fit] : each_strategy([](const Model&) { return perceptron(); })) {
    Interrupter interrupter;
    Model model = perceptron();
    FitOptions options = quiet({.epochs = 100, .batch_size = 4, .interrupted = &interrupter.wanted});
    options.callbacks = {interrupter.callback()};
    fit(model, {x, y}, options);
    BOOST_TEST(interrupter.ends == 1, name);
    BOOST_TEST(interrupter.epochs == (std::vector<int>{1, 2}), name);
    BOOST_TEST(interrupter.step == 4, name);
    BOOST_TEST(model.step() == 4, name);
    BOOST_TEST(same(model.weights(), interrupter.weights), name);
    BOOST_TEST(!same(model.weights(), perceptron().weights()), name);
  }
}

BOOST_AUTO_TEST_CASE(an_interrupted_training_goes_on_from_its_backup_under_each_strategy) {
  const auto [x, y] = points_of_a_line(10);
  for (const auto& [name, fit] : each_strategy([](const Model&) { return perceptron(); })) {
    const Folder folder;
    Interrupter interrupter;
    FitOptions options = quiet({.epochs = 3, .batch_size = 4});
    Model whole = perceptron(), interrupted = perceptron(), again = perceptron();
    fit(whole, {x, y}, options);
    options.callbacks = {backup_and_restore(folder.path())};
    FitOptions watched = options;
    watched.callbacks.insert(watched.callbacks.begin(), interrupter.callback());
    watched.interrupted = &interrupter.wanted;
    fit(interrupted, {x, y}, watched);
    BOOST_TEST(interrupted.step() == 4, name);
    fit(again, {x, y}, options);
    BOOST_TEST(again.step() == 9, name);
    BOOST_TEST(same(again.weights(), whole.weights()), name);
  }
}

// What goes on from it must not begin with an average of earlier epochs.
BOOST_AUTO_TEST_CASE(the_checkpoint_of_an_interrupted_training_is_older_than_what_callbacks_set) {
  const Folder folder;
  Interrupter interrupter;
  const SavingJob job{.folder = folder.path(), .interrupted = &interrupter.wanted};
  const Weights best =
      job.train({made_up({0.1, 0.2, 0.3}), early_stopping({.patience = 5, .restore_best_weights = true}),
                 interrupter.callback()});
  BOOST_TEST(interrupter.ends == 1);
  BOOST_TEST(!same(best, interrupter.weights));
  BOOST_TEST(same(job.saved(), interrupter.weights));
}

// Also where the last step has been saved before the callbacks set weights.
BOOST_AUTO_TEST_CASE(the_last_checkpoint_has_the_weights_that_callbacks_set_at_the_end) {
  for (const std::int64_t save_steps : {100, 3})
    for (const Callbacks& callbacks : {Callbacks{averaged_weights()}, restoring_the_second_epoch()}) {
      const Folder folder;
      const SavingJob job{.folder = folder.path(), .save_steps = save_steps};
      const Weights trained = job.train(callbacks);
      BOOST_TEST(latest_step(posix_storage(), folder.path()).value() == 9);
      BOOST_TEST(same(job.saved(), trained));
      // A chief that comes back when training is complete takes them from there.
      BOOST_TEST(same(job.train(callbacks), trained));
    }
}

BOOST_AUTO_TEST_CASE(weights_that_are_set_after_the_last_epoch_are_saved_too) {
  const Folder folder;
  const SavingJob job{.folder = folder.path(), .save_steps = 3};
  const Weights zeros = [] {
    Weights weights = perceptron().weights();
    for (auto& [name, value] : weights) value = Tensor::zeros(value.dtype(), value.shape());
    return weights;
  }();
  const Weights trained =
      job.train({callback({.on_epoch_end = [&zeros](FitContext& training, int epoch, Logs&) {
        if (epoch == 3) training.model().set_weights(zeros);
      }})});
  BOOST_TEST(same(trained, zeros));
  BOOST_TEST(same(job.saved(), zeros));
}

BOOST_AUTO_TEST_CASE(a_callback_that_throws_at_the_end_costs_no_checkpoint) {
  const Folder folder;
  const SavingJob job{.folder = folder.path()};
  const auto fails =
      callback({.on_train_end = [](FitContext&) { throw invalid_argument("it is too late"); }});
  BOOST_CHECK_EXCEPTION(job.train({fails}), Error, says("it is too late"));
  BOOST_TEST(latest_step(posix_storage(), folder.path()).value() == 9);
}

// It would go on for the epochs that are left.
BOOST_AUTO_TEST_CASE(who_comes_back_when_training_was_stopped_early_makes_no_more_steps) {
  const Folder folder;
  const SavingJob job{.folder = folder.path()};
  const Callbacks stopping{made_up({0.1, 0.2, 0.3}), early_stopping({.patience = 1})};
  const Weights trained = job.train(stopping);
  BOOST_TEST(latest_step(posix_storage(), folder.path()).value() == 6);
  LocalCluster alone({{"worker", 2}});
  Model model = perceptron();
  job.fit(model, alone, 1);
  BOOST_TEST(same(job.train({}), trained));
  BOOST_TEST(latest_step(posix_storage(), folder.path()).value() == 6);
}

// As when the machine lost power after the last step.
BOOST_AUTO_TEST_CASE(a_chief_that_comes_back_takes_an_older_checkpoint_where_the_last_one_is_damaged) {
  const Folder folder;
  const SavingJob job{.folder = folder.path(), .save_steps = 3};
  job.train({});
  const std::string last = latest_checkpoint(posix_storage(), folder.path()).value();
  const std::string data = folder.file(read_manifest(posix_storage(), last).files.front().name);
  std::string bytes = read_file(data);
  bytes.back() ^= 1;
  write_file(data, bytes);
  LocalCluster alone({{"worker", 2}});
  Model model = perceptron();
  job.fit(model, alone, 0);
  BOOST_TEST(model.step() == 6);
  BOOST_TEST(same(model.weights(),
                  weights_in(load_newest_whole_checkpoint(posix_storage(), folder.path()).value())));
}

// The number of its examples is known when it has been read.
BOOST_AUTO_TEST_CASE(a_parameter_server_of_a_dataset_that_comes_back_alone_leaves) {
  const Folder folder;
  const auto fit = [&folder](LocalCluster& cluster, const std::string& job) {
    const auto [x, y] = points_of_a_line(10);
    Model model = perceptron();
    FitOptions options = quiet({.epochs = 3, .batch_size = 4});
    options.strategy =
        ParameterServer{cluster.server(job, 0), {.checkpoint_folder = folder.path(), .mark_end = true}};
    model.fit(Dataset::tensors({x, y}), options);
  };
  LocalCluster cluster({{"ps", 1}, {"worker", 1}});
  auto serving = std::async(std::launch::async, fit, std::ref(cluster), "ps");
  fit(cluster, "worker");
  serving.get();
  LocalCluster alone({{"ps", 1}, {"worker", 1}});
  fit(alone, "ps");
  BOOST_TEST(latest_step(posix_storage(), folder.path()).value() == 9);
}

// The weight is the number of the updates that it has had, negative. The other worker trains on while
// the chief, which a callback has stopped, takes weight and step.
BOOST_AUTO_TEST_CASE(weights_and_step_that_an_asynchronous_chief_takes_are_of_one_step) {
  for (int run = 0; run < 12; ++run) {
    LocalCluster cluster({{"ps", 1}, {"worker", 2}});
    const auto fit = [&cluster](const char* job, int task, Model& model, Callbacks callbacks) {
      FitOptions options = with(std::move(callbacks), 100'000);
      options.strategy = ParameterServer{cluster.server(job, task), {.strategy = Asynchronous{}}};
      model.fit(examples(8), options);
    };
    std::vector<std::jthread> others;
    for (const auto& [job, task] : {std::pair{"ps", 0}, {"worker", 1}})
      others.emplace_back([&fit, job = job, task = task] {
        Model model = step_counter();
        fit(job, task, model, {});
      });
    Model model = step_counter();
    fit("worker", 0, model, {callback({.on_epoch_end = [](FitContext& training, int epoch, Logs&) {
          if (epoch == 5) training.stop();
        }})});
    BOOST_TEST(weight_of(model) == -static_cast<float>(model.step()));
    BOOST_TEST(model.step() >= 40);
  }
}

BOOST_AUTO_TEST_SUITE_END()
