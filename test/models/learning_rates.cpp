// The learning rate: as it is set, and as callbacks set it.
#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "actors/task/server.h"
#include "kernels/ops/learning_rate.h"
#include "test/models/support/step_counter.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(learning_rates)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const std::vector<std::pair<std::string, Distribution>> strategies{{"one device", OneDevice{}},
                                                                   {"mirrored", Mirrored{2}}};

// A matrix with a rate of 0.02 and a bias with 0.001 in each layer.
Model with_two_rates() {
  Model model = sequential({dense(3, tanh), dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = muon_for_matrices(Muon{}, AdamW{})});
  return model;
}
const char* const two_rates = "'dense/weights' has 0.02, 'dense/biases' has 0.001";

Model with_schedule() {
  Model model = sequential({dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{}, .learning_rate = [](Output step) {
                   return exponential_decay(0.1, step, 1, 0.5);
                 }});
  return model;
}

void fit_line(Model& model, const Distribution& strategy, Callbacks callbacks = {}) {
  const auto [x, y] = points_of_a_line(8);
  model.fit({x, y}, quiet({.batch_size = 4, .callbacks = std::move(callbacks), .strategy = strategy}));
}

// fit() throws with these words before its first step.
void expect_refused_at_once(Model (*make)(), const CallbackRef& setter, const std::string& words) {
  for (const auto& [name, strategy] : strategies) {
    int batches = 0;
    const auto count =
        callback({.on_batch_end = [&](FitContext&, std::int64_t, const Logs&) { ++batches; }});
    Model model = make();
    BOOST_CHECK_EXCEPTION(fit_line(model, strategy, {setter, count}), Error, says(words));
    BOOST_TEST(batches == 0, name);
  }
}

CallbackRef halving() {
  return learning_rate_scheduler([](int, double rate) { return rate / 2; });
}

// Three epochs of two steps with rates of 1/2, 1/4, 1/8.
constexpr float three_epochs_halved = -1.75F;

FitOptions three_epochs(Callbacks callbacks, Distribution strategy) {
  FitOptions options = with(std::move(callbacks), 3);
  options.batch_size = 2;
  options.strategy = std::move(strategy);
  return options;
}

// Fails as a lost program would, behind the callbacks before it.
CallbackRef fail_after(int epoch, std::int64_t batch) {
  return callback({.on_batch_end = [=](FitContext& training, std::int64_t done, const Logs&) {
    if (training.model().progress().epoch == epoch && done == batch)
      throw Error(Code::internal, "interrupted");
  }});
}

}  // namespace

BOOST_AUTO_TEST_CASE(optimizers_of_different_rates_have_none_to_read_or_set) {
  for (const auto& [name, strategy] : strategies) {
    Model model = with_two_rates();
    fit_line(model, strategy);
    BOOST_CHECK_EXCEPTION(model.set_learning_rate(0.1), Error, says(two_rates));
    BOOST_CHECK_EXCEPTION(model.learning_rate(), Error, says(two_rates));
    fit_line(model, strategy);
    BOOST_TEST(model.step() == 4, name);
  }
}

BOOST_AUTO_TEST_CASE(a_rate_that_was_set_too_early_is_refused_by_fit) {
  for (const auto& [name, strategy] : strategies) {
    Model model = with_two_rates();
    model.set_learning_rate(0.1);
    BOOST_CHECK_EXCEPTION(fit_line(model, strategy), Error, says(two_rates));
  }
}

// While the head learns alone there is one rate, which nobody has set.
BOOST_AUTO_TEST_CASE(a_layer_that_begins_to_learn_may_bring_a_rate_of_its_own) {
  Model model = sequential({dense(3, tanh), dense(1, {}, {.bias = false}).named("head")});
  model.compile({.loss = mean_squared_error(), .optimizer = muon_for_matrices(Muon{}, AdamW{})});
  model.get_layer("dense").set_trainable(false);
  fit_line(model, OneDevice{});
  BOOST_TEST(model.learning_rate() == 0.02);
  model.get_layer("dense").set_trainable(true);
  fit_line(model, OneDevice{});
  BOOST_CHECK_EXCEPTION(model.learning_rate(), Error, says("'dense/biases' has 0.001"));
}

BOOST_AUTO_TEST_CASE(callbacks_that_set_the_rate_are_refused_where_there_is_none_to_set) {
  expect_refused_at_once(with_two_rates, halving(), two_rates);
  expect_refused_at_once(with_two_rates, reduce_on_plateau(), two_rates);
}

BOOST_AUTO_TEST_CASE(callbacks_that_set_the_rate_are_refused_beside_a_schedule) {
  expect_refused_at_once(with_schedule, halving(),
                         "learning_rate_scheduler: the learning rate follows the schedule of compile()");
  expect_refused_at_once(with_schedule, reduce_on_plateau(),
                         "reduce_on_plateau: the learning rate follows the schedule of compile()");
}

BOOST_AUTO_TEST_CASE(an_epoch_that_goes_on_from_a_backup_keeps_its_rate) {
  for (const auto& [name, strategy] : strategies) {
    const Folder folder;
    const auto backup = [&] { return backup_and_restore(folder.file("backup"), {.every_batches = 1}); };
    Model model = step_counter();
    BOOST_CHECK_EXCEPTION(
        model.fit(examples(4), three_epochs({backup(), halving(), fail_after(2, 1)}, strategy)), Error,
        says("interrupted"));
    Model again = step_counter();
    again.fit(examples(4), three_epochs({backup(), halving()}, strategy));
    BOOST_TEST(weight_of(again) == three_epochs_halved, name);
    BOOST_TEST(again.learning_rate() == 0.125, name);
  }
}

// With the first checkpoint alone, and with one after each step.
BOOST_AUTO_TEST_CASE(an_epoch_that_goes_on_from_a_checkpoint_has_its_rate_once) {
  for (const std::int64_t every_steps : {100, 1})
    for (const auto& [epoch, batch] : {std::pair{1, 1}, {1, 2}, {2, 1}}) {
      const Folder folder;
      const auto fit = [&](Model& model, Callbacks callbacks) {
        LocalCluster cluster({{"worker", 1}});
        const MultiWorkerMirrored strategy{
            cluster.server("worker", 0),
            {.checkpoint_folder = folder.path(), .save_checkpoint = {.steps = every_steps}}};
        model.fit(examples(4), three_epochs(std::move(callbacks), strategy));
      };
      Model model = step_counter(), again = step_counter();
      BOOST_CHECK_EXCEPTION(fit(model, {halving(), fail_after(epoch, batch)}), Error,
                            says("interrupted"));
      fit(again, {halving()});
      BOOST_TEST(weight_of(again) == three_epochs_halved,
                 "epoch " << epoch << ", batch " << batch << ", " << every_steps);
    }
}

BOOST_AUTO_TEST_SUITE_END()
