// What callbacks have seen, where training goes on from a backup or a checkpoint.
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "dataflow/values/error.h"
#include "test/models/support/step_counter.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/log_lines.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(callback_state)

using namespace actorflow;
using namespace actorflow::test;

namespace {

CallbackRef failing_before(int epoch) {
  return callback({.on_epoch_begin = [epoch](FitContext&, int begun) {
    if (begun == epoch) throw Error(Code::cancelled, "interrupted");
  }});
}

// Trains until an error before that epoch, and then another model with other callbacks, which goes on.
// The backup comes first: it has what the others make of an epoch all the same.
History interrupted_before(int epoch, Model& first, Model& second, int epochs,
                           const std::function<Callbacks()>& others) {
  const auto with_backup = [&] {
    Callbacks callbacks = others();
    callbacks.insert(callbacks.begin(), backup_and_restore("backup"));
    return callbacks;
  };
  Callbacks failing = with_backup();
  failing.push_back(failing_before(epoch));
  BOOST_CHECK_EXCEPTION(first.fit(examples(), with(failing, epochs)), Error, says("interrupted"));
  return second.fit(examples(), with(with_backup(), epochs));
}

// One worker, which goes on from the checkpoint in this folder.
History train_in(const Folder& folder, const Callbacks& callbacks, int epochs, Model& model,
                 std::int64_t save_steps = 0) {
  LocalCluster cluster({{"worker", 1}});
  FitOptions options = with(callbacks, epochs);
  options.strategy = MultiWorkerMirrored{
      cluster.server("worker", 0),
      {.checkpoint_folder = folder.path(), .save_checkpoint = {.steps = save_steps, .seconds = 600}}};
  return model.fit(examples(), options);
}

std::string log_of_training_in(const Folder& folder, const Callbacks& callbacks, int epochs) {
  LogLines log;
  Model model = step_counter();
  train_in(folder, callbacks, epochs, model);
  return log.all();
}

bool has(const std::string& log, const std::string& text) { return log.find(text) != log.npos; }

// The best is that of the second epoch, and the third epoch in a row without a better one the fifth.
Callbacks best_in_the_second() {
  return {made_up({0.5, 0.2, 0.4, 0.3, 0.25, 0.1, 0.1}),
          early_stopping({.patience = 3, .restore_best_weights = true})};
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_interrupted_early_stopping_stops_where_it_would_have) {
  MemoryStorage disk;
  Model first = step_counter(disk), second = step_counter(disk);
  const History history = interrupted_before(4, first, second, 7, best_in_the_second);
  BOOST_TEST(history.epochs == (std::vector<int>{4, 5}), boost::test_tools::per_element());
  BOOST_TEST(weight_of(second) == -2.F);
}

// It has reduced the rate after the third epoch, and does so after the fifth.
BOOST_AUTO_TEST_CASE(an_interrupted_plateau_is_as_long) {
  MemoryStorage disk;
  Model first = step_counter(disk), second = step_counter(disk);
  interrupted_before(5, first, second, 5, [] {
    return Callbacks{made_up({1, 1, 1, 1, 1}), reduce_on_plateau({.factor = 0.5, .patience = 2})};
  });
  BOOST_TEST(second.learning_rate() == 0.25);
}

BOOST_AUTO_TEST_CASE(an_interrupted_model_checkpoint_knows_its_best) {
  MemoryStorage disk;
  Model first = step_counter(disk), second = step_counter(disk);
  interrupted_before(3, first, second, 4, [] {
    return Callbacks{made_up({0.3, 0.1, 0.2, 0.2}), model_checkpoint("best", {.monitor = "val_loss"})};
  });
  BOOST_TEST(saved_steps(disk, "best") == (std::vector<std::int64_t>{2, 1}),
             boost::test_tools::per_element());
}

// After four epochs of two steps each, in the third of which it was interrupted.
BOOST_AUTO_TEST_CASE(averaged_weights_are_the_mean_of_epochs_before_an_interruption_too) {
  MemoryStorage disk;
  std::atomic<bool> interrupted = false;
  const auto interrupt =
      callback({.on_batch_end = [&](FitContext& training, std::int64_t batch, const Logs&) {
        if (training.model().progress().epoch == 3 && batch == 1) interrupted = true;
      }});
  const auto fit = [&](Model& model, Callbacks callbacks) {
    FitOptions options = with(std::move(callbacks), 4);
    options.interrupted = &interrupted;
    model.fit(examples(2), options);
  };
  Model first = step_counter(disk), second = step_counter(disk);
  fit(first, {averaged_weights(), backup_and_restore("backup"), interrupt});
  BOOST_TEST(weight_of(first) == -5.F);
  interrupted = false;
  fit(second, {averaged_weights(), backup_and_restore("backup")});
  BOOST_TEST(weight_of(second) == -5.F);
}

// It hears again of the epoch within which it was interrupted, whose part counts for nothing.
BOOST_AUTO_TEST_CASE(a_callback_of_functions_keeps_what_it_counts) {
  MemoryStorage disk;
  std::atomic<bool> interrupted = false;
  const auto counted = [&](bool interrupts) {
    std::int64_t epochs = 0;
    const auto count = callback(
        {.on_batch_end =
             [&](FitContext& training, std::int64_t batch, const Logs&) {
               if (interrupts && training.model().progress().epoch == 3 && batch == 1)
                 interrupted = true;
             },
         .on_epoch_end = [&](FitContext&, int, Logs&) { ++epochs; },
         .name = "count",
         .state =
             [&] {
               return CallbackState{{"epochs", Tensor::scalar(epochs)}};
             },
         .restore =
             [&](const CallbackState& state) { epochs = state.at("epochs").scalar<std::int64_t>(); }});
    FitOptions options = with({count, backup_and_restore("backup")}, 4);
    options.interrupted = &interrupted;
    Model model = step_counter(disk);
    model.fit(examples(2), options);
    return epochs;
  };
  BOOST_TEST(counted(true) == 3);
  interrupted = false;
  BOOST_TEST(counted(false) == 4);
  BOOST_CHECK_EXCEPTION(callback({.name = "count", .state = [] { return CallbackState{}; }}), Error,
                        says("callback 'count': expected both `state` and `restore`"));
}

BOOST_AUTO_TEST_CASE(callbacks_of_whose_earlier_epochs_a_backup_does_not_tell_are_named) {
  const Folder folder;
  const auto log_of = [&](int epochs, Callbacks others) {
    LogLines log;
    Model model = step_counter();
    others.insert(others.begin(),
                  {backup_and_restore(folder.path(), {.keep = true}), made_up({4, 3, 2, 1, 0})});
    model.fit(examples(), with(others, epochs));
    return log.all();
  };
  const std::string first = log_of(2, {});
  const std::string second = log_of(3, {early_stopping({.patience = 9}), averaged_weights(3)});
  const std::string third = log_of(4, {early_stopping({.patience = 9}), averaged_weights()});
  const std::string fourth = log_of(5, {early_stopping({.patience = 9}), averaged_weights()});
  for (const auto& log : {first, fourth}) BOOST_TEST(!has(log, "anew"), log);
  BOOST_TEST(has(second, "in epoch 3, but early_stopping begins anew"), second);
  BOOST_TEST(has(third, "in epoch 4, but averaged_weights begins anew"), third);
}

BOOST_AUTO_TEST_CASE(callbacks_of_whose_earlier_epochs_a_clusters_checkpoint_does_not_tell_are_named) {
  const Folder folder;
  const std::string first = log_of_training_in(folder, {}, 2);
  const std::string second = log_of_training_in(folder, {averaged_weights()}, 3);
  const std::string third = log_of_training_in(folder, {averaged_weights()}, 4);
  for (const auto& log : {first, third}) BOOST_TEST(!has(log, "anew"), log);
  BOOST_TEST(has(second, "in epoch 3, but averaged_weights begins anew"), second);
}

BOOST_AUTO_TEST_CASE(weights_of_a_checkpoint_with_the_state_of_callbacks_are_those_of_the_model) {
  const Folder folder;
  Model trained = step_counter(), loaded = step_counter();
  train_in(folder, {made_up({0.5, 0.2}), early_stopping({.patience = 3})}, 2, trained);
  const auto manifest =
      read_manifest(posix_storage(), latest_checkpoint(posix_storage(), folder.path()).value());
  const auto is_best = [](const auto& entry) {
    return entry.name == "@callbacks/early_stopping.val_loss/best";
  };
  BOOST_TEST(std::ranges::count_if(manifest.tensors, is_best) == 1);
  loaded.build({{DType::float32, {1, 1}}});
  loaded.load_weights(folder.path());
  BOOST_TEST(weight_of(loaded) == -2.F);
}

// The first training ends with the weights of the second epoch, from which the other goes on.
BOOST_AUTO_TEST_CASE(training_that_goes_on_from_a_clusters_checkpoint_stops_where_it_would_have) {
  const Folder folder;
  Model first = step_counter(), second = step_counter();
  train_in(folder, best_in_the_second(), 3, first);
  const History history = train_in(folder, best_in_the_second(), 7, second);
  BOOST_TEST(history.epochs == (std::vector<int>{4, 5}), boost::test_tools::per_element());
  BOOST_TEST(weight_of(second) == -2.F);
}

// The checkpoint is of the last step of the third epoch, of whose end callbacks have not heard.
BOOST_AUTO_TEST_CASE(callbacks_hear_of_the_epoch_whose_end_was_lost_with_the_chief) {
  const Folder folder;
  const auto fail = callback({.on_epoch_end = [](FitContext&, int epoch, Logs&) {
    if (epoch == 3) throw invalid_argument("interrupted");
  }});
  Callbacks failing = best_in_the_second();
  failing.insert(failing.begin(), fail);
  Model first = step_counter(), second = step_counter();
  BOOST_CHECK_EXCEPTION(train_in(folder, failing, 7, first, 1), Error, says("interrupted"));
  const History history = train_in(folder, best_in_the_second(), 7, second, 1);
  BOOST_TEST(history.epochs == (std::vector<int>{3, 4, 5}), boost::test_tools::per_element());
  BOOST_TEST(history.of("loss")[0] == -2);
  BOOST_TEST(weight_of(second) == -2.F);
}

BOOST_AUTO_TEST_SUITE_END()
