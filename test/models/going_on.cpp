// A second fit() goes on where the first one ended, whatever strategy each of them has.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "actors/runtime/storage.h"
#include "kernels/ops/learning_rate.h"
#include "test/models/support/each_strategy.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(going_on)

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::int64_t examples = 10;  // in batches of 4

// Adam's rate, its moments and the number of its updates depend on all steps so far.
Model perceptron(bool scheduled = true) {
  Model model = sequential({dense(6, tanh), dense(1)});
  CompileOptions options{.loss = mean_squared_error(), .optimizer = Adam{0.05}};
  if (scheduled)
    options.learning_rate = [](Output step) { return exponential_decay(0.05, step, 3, 0.8); };
  model.compile(std::move(options));
  return model;
}

FitOptions epochs(int first, int last) {
  return quiet({.epochs = last, .batch_size = 4, .initial_epoch = first - 1});
}

using Train = std::function<void(Model&, FitOptions)>;

void train_here(Model& model, FitOptions options) {
  const auto [x, y] = points_of_a_line(examples);
  model.fit({x, y}, options);
}

const std::map<std::string, Train>& strategies() {
  static const auto all = [] {
    std::map<std::string, Train> trains;
    for (const auto& [name, fit] : each_strategy([](const Model& chief) {
           return perceptron(static_cast<bool>(chief.compile_options().learning_rate));
         }))
      trains[name] = [fit = fit](Model& model, FitOptions options) {
        const auto [x, y] = points_of_a_line(examples);
        fit(model, {x, y}, std::move(options));
      };
    return trains;
  }();
  return all;
}

void expect_close(Model& ours, Model& theirs, const std::string& what) {
  const auto weights = ours.weights();
  for (const auto& [name, value] : theirs.weights())
    for (std::size_t i = 0; i < value.values<float>().size(); ++i)
      BOOST_TEST(std::abs(weights.at(name).values<float>()[i] - value.values<float>()[i]) < 1e-5F,
                 what << ": " << name);
}

// A plateau in the second epoch, after which the rate is a tenth, and a checkpoint after each epoch.
Callbacks saving_on_a_plateau(const std::string& folder) {
  const auto made_up = callback({.on_epoch_end = [](FitContext&, int, Logs& logs) {
    logs.set("val_loss", 1);
  }});
  return {made_up, reduce_on_plateau({.patience = 1}), model_checkpoint(folder)};
}

std::vector<std::int64_t> steps_in(const std::string& folder) {
  std::vector<std::int64_t> steps;
  for (const auto& path : list_checkpoints(posix_storage(), folder))
    steps.push_back(read_manifest(posix_storage(), path).global_step);
  return steps;
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_calls_give_the_bits_of_one) {
  for (const auto& [name, train] : strategies()) {
    Model at_once = perceptron(), by_turns = perceptron();
    train(at_once, epochs(1, 4));
    train(by_turns, epochs(1, 2));
    train(by_turns, epochs(3, 4));
    BOOST_TEST(same(by_turns.weights(), at_once.weights()), name);
  }
}

BOOST_AUTO_TEST_CASE(each_strategy_goes_on_from_another_and_another_from_it) {
  Model alone = perceptron();
  train_here(alone, epochs(1, 6));
  for (const auto& [name, train] : strategies()) {
    Model model = perceptron();
    train_here(model, epochs(1, 2));
    train(model, epochs(3, 4));
    train_here(model, epochs(5, 6));
    expect_close(model, alone, name);
    BOOST_TEST(model.step() == 18, name);
    BOOST_TEST(std::abs(model.learning_rate() - alone.learning_rate()) < 1e-9, name);
  }
}

BOOST_AUTO_TEST_CASE(a_schedule_counts_the_steps_that_a_strategy_has_made) {
  Model alone = perceptron();
  train_here(alone, epochs(1, 2));
  for (const auto& [name, train] : strategies()) {
    Model model = perceptron();
    train(model, epochs(1, 2));
    BOOST_TEST(std::abs(model.learning_rate() - alone.learning_rate()) < 1e-9, name);
  }
}

BOOST_AUTO_TEST_CASE(checkpoints_and_a_changed_rate_go_on_as_on_one_device) {
  const Folder folder;
  const auto train_twice = [&](const Train& train, const std::string& to) {
    Model model = perceptron(false);
    for (int call = 0; call < 2; ++call) {
      FitOptions options = epochs(1, 2);
      options.callbacks = saving_on_a_plateau(folder.file(to));
      train(model, options);
    }
    return model;
  };
  Model alone = train_twice(train_here, "alone");
  BOOST_TEST(std::abs(alone.learning_rate() - 0.0005) < 1e-9);
  for (const auto& [name, train] : strategies()) {
    Model model = train_twice(train, name);
    expect_close(model, alone, name);
    BOOST_TEST(std::abs(model.learning_rate() - 0.0005) < 1e-9, name);
    BOOST_TEST(steps_in(folder.file(name)) == steps_in(folder.file("alone")),
               boost::test_tools::per_element());
  }
}

// A rate that was set between two calls, when the model has no graph of its own.
BOOST_AUTO_TEST_CASE(a_rate_that_is_set_in_between_counts) {
  Model model = perceptron(false);
  strategies().at("mirrored")(model, epochs(1, 1));
  model.set_learning_rate(0);
  const auto before = model.weights();
  strategies().at("mirrored")(model, epochs(2, 2));
  BOOST_TEST(same(model.weights(), before));
}

BOOST_AUTO_TEST_SUITE_END()
