// Callbacks of fit().
#include "actors/models/fit/callbacks.h"

#include <boost/test/unit_test.hpp>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/events/event_reader.h"
#include "actors/models/model.h"
#include "test/models/support/step_counter.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(callbacks)

using namespace actorflow;
using namespace actorflow::test;

BOOST_AUTO_TEST_CASE(early_stopping_ends_after_its_patience_and_restores_the_best) {
  Model model = step_counter();
  const auto history =
      model.fit(examples(), with({made_up({0.2, 0.15, 0.1, 0.11, 0.12, 0, 0}),
                                  early_stopping({.patience = 2, .restore_best_weights = true})},
                                 7));
  BOOST_TEST(history.epochs.size() == 5U);
  BOOST_TEST(weight_of(model) == -3.F);
}

BOOST_AUTO_TEST_CASE(the_best_weights_are_restored_also_when_fit_simply_ends) {
  Model model = step_counter();
  model.fit(examples(), with({made_up({0.2, 0.1, 0.3}),
                              early_stopping({.patience = 5, .restore_best_weights = true})},
                             3));
  BOOST_TEST(weight_of(model) == -2.F);
}

BOOST_AUTO_TEST_CASE(accuracy_ought_to_grow) {
  Model model = step_counter();
  const auto made = callback({.on_epoch_end = [](FitContext&, int epoch, Logs& logs) {
    logs.set("val_accuracy", epoch < 4 ? 0.1 * epoch : 0.3);
  }});
  const auto history =
      model.fit(examples(), with({made, early_stopping({.monitor = "val_accuracy", .patience = 1})}, 9));
  BOOST_TEST(history.epochs.size() == 4U);
}

BOOST_AUTO_TEST_CASE(a_value_that_is_not_measured_stops_nothing) {
  Model model = step_counter();
  BOOST_TEST(model.fit(examples(), with({early_stopping({.monitor = "nothing"})}, 3)).epochs.size() ==
             3U);
}

// The epoch that was to begin counts for nothing, and fit() ends as it does after any other.
BOOST_AUTO_TEST_CASE(training_may_be_stopped_where_an_epoch_begins) {
  for (const Distribution& strategy : {Distribution(OneDevice{}), Distribution(Mirrored{2})}) {
    int ends = 0;
    const auto stop_before_the_third = callback({.on_epoch_begin =
                                                     [](FitContext& training, int epoch) {
                                                       if (epoch == 3) training.stop();
                                                     },
                                                 .on_train_end = [&](FitContext&) { ++ends; }});
    FitOptions options = with({stop_before_the_third}, 5);
    options.batch_size = 2;
    options.strategy = strategy;
    Model model = step_counter();
    const History history = model.fit(examples(2), options);
    BOOST_TEST(history.epochs == (std::vector<int>{1, 2}), boost::test_tools::per_element());
    BOOST_TEST(ends == 1);
    BOOST_TEST(weight_of(model) == -2.F);
  }
}

BOOST_AUTO_TEST_CASE(an_empty_path_is_refused) {
  Model model = sequential(input({1}), {constant_layer(0)});
  const std::map<std::string, void (*)(Model&)> calls{
      {"Model::save", [](Model& m) { m.save(""); }},
      {"Model::load", [](Model& m) { m.load(""); }},
      {"Model::save_weights", [](Model& m) { m.save_weights(""); }},
      {"Model::load_weights", [](Model& m) { m.load_weights(""); }},
      {"Model::export_onnx", [](Model& m) { m.export_onnx(""); }},
      {"save_checkpoint", [](Model&) { save_checkpoint(posix_storage(), "", {}); }},
      {"list_checkpoints", [](Model&) { list_checkpoints(posix_storage(), ""); }},
      {"read_manifest", [](Model&) { load_checkpoint(posix_storage(), ""); }},
      {"EventReader", [](Model&) { EventReader(posix_storage(), ""); }}};
  for (const auto& [name, call] : calls)
    BOOST_CHECK_EXCEPTION(call(model), Error, says(name + ": expected a path, got ''"));
}

BOOST_AUTO_TEST_CASE(a_threshold_is_what_the_best_has_to_beat) {
  MemoryStorage disk;
  Model model = step_counter(disk);
  model.fit(examples(),
            with({made_up({0.5, 0.3, 0.2, 0.25}),
                  model_checkpoint("saved", {.monitor = "val_loss", .initial_value_threshold = 0.3})},
                 4));
  BOOST_TEST(saved_steps(disk, "saved") == (std::vector<std::int64_t>{3}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(callbacks_that_make_no_sense_are_refused) {
  BOOST_CHECK_EXCEPTION(model_checkpoint("saved", {.monitor = "val_loss", .save_freq = 2}), Error,
                        says("'val_loss' is known at the end of an epoch only"));
  BOOST_CHECK_EXCEPTION(model_checkpoint("saved", {.save_freq = -1}), Error,
                        says("save_freq of 1 batch or more, or 0 to save after epochs, got -1"));
  BOOST_CHECK_EXCEPTION(model_checkpoint("saved", {.initial_value_threshold = 0.3}), Error,
                        says("initial_value_threshold 0.3 is of the value that is monitored"));
  BOOST_CHECK_EXCEPTION(early_stopping({.patience = -1}), Error, says("got -1 and 1"));
  BOOST_CHECK_EXCEPTION(reduce_on_plateau({.patience = -1}), Error, says("got -1 and 0"));
  BOOST_CHECK_EXCEPTION(averaged_weights(0), Error, says("epochs count from 1, got from_epoch 0"));
  BOOST_CHECK_EXCEPTION(backup_and_restore("saved", {.every_batches = -1}), Error,
                        says("every_batches of 1 or more, or 0 to save after epochs alone, got -1"));
  BOOST_CHECK_EXCEPTION(learning_rate_scheduler({}), Error, says("expected a function, got none"));
  BOOST_CHECK_EXCEPTION(model_checkpoint(""), Error, says("model_checkpoint: expected a path, got ''"));
  BOOST_CHECK_EXCEPTION(csv_logger(""), Error, says("csv_logger: expected a path, got ''"));
  Model model = step_counter();
  BOOST_CHECK_EXCEPTION(model.fit(examples(), with({terminate_on_nan(), nullptr}, 1)), Error,
                        says("of 2 callbacks number 2 is empty"));
  BOOST_CHECK_EXCEPTION(early_stopping({.start_from_epoch = 0}), Error, says("got 0 and 0"));
}

BOOST_AUTO_TEST_CASE(folders_that_callbacks_cannot_use_are_refused_before_training) {
  const Folder folder;
  write_file(folder.file("taken"), "no folder");
  const std::string below = folder.file("taken/below");
  for (const auto& writer : {model_checkpoint(below), backup_and_restore(below), tensorboard(below),
                             csv_logger(below + "/log.csv")}) {
    int epochs = 0;
    const auto count = callback({.on_epoch_begin = [&](FitContext&, int) { ++epochs; }});
    Model model = step_counter();
    BOOST_CHECK_EXCEPTION(model.fit(examples(), with({writer, count}, 1)), Error,
                          says("cannot be saved in '" + below + "'"));
    BOOST_TEST(epochs == 0);
  }
  Model model = step_counter();
  BOOST_CHECK_EXCEPTION(model.fit(examples(), with({model_checkpoint("/dev/null")}, 1)), Error,
                        says("'/dev/null' is neither a file nor a folder"));
  BOOST_CHECK_EXCEPTION(model.load(folder.file("taken")), Error,
                        says("'" + folder.file("taken") + "' is a file, not a folder"));
  BOOST_CHECK_EXCEPTION(model.fit(examples(), with({csv_logger(folder.path())}, 1)), Error,
                        says("the log " + folder.path() + " cannot be replaced: "));
}

BOOST_AUTO_TEST_CASE(a_plateau_reduces_the_rate) {
  Model model = step_counter();
  model.fit(examples(),
            with({made_up({1, 1, 1, 1, 1}), reduce_on_plateau({.factor = 0.5, .patience = 2})}, 5));
  BOOST_TEST(model.learning_rate() == 0.25);
}

BOOST_AUTO_TEST_CASE(a_scheduler_sets_the_rate_of_each_epoch) {
  Model model = step_counter();
  const auto history = model.fit(
      examples(), with({learning_rate_scheduler([](int epoch, double) { return 0.1 * epoch; })}, 3));
  BOOST_TEST(weight_of(model) == -0.6F, boost::test_tools::tolerance(1e-6F));
  BOOST_TEST(history.of("learning_rate")[1] == 0.2);
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_no_number_ends_training) {
  Model model = sequential({constant_layer(std::numeric_limits<double>::infinity())});
  model.compile({.loss = {{"value", [](Output p, Output) { return p - p; }}}, .optimizer = Sgd{0}});
  std::int64_t batches = 0;
  const auto count =
      callback({.on_batch_end = [&](FitContext&, std::int64_t, const Logs&) { ++batches; }});
  model.fit(examples(3), with({terminate_on_nan(), count}, 2));
  BOOST_TEST(batches == 1);
}

BOOST_AUTO_TEST_CASE(averaged_weights_are_the_mean_after_each_epoch) {
  Model model = step_counter();
  model.fit(examples(), with({averaged_weights(2)}, 4));
  BOOST_TEST(weight_of(model) == -3.F);
}

// Of two steps each; the third is stopped after one.
BOOST_AUTO_TEST_CASE(averaged_weights_are_those_of_whole_epochs) {
  const auto stop = callback({.on_batch_end = [](FitContext& training, std::int64_t batch, const Logs&) {
    if (training.model().progress().epoch == 3 && batch == 1) training.stop();
  }});
  Model model = step_counter();
  model.fit(examples(2), with({averaged_weights(), stop}, 4));
  BOOST_TEST(weight_of(model) == -3.F);
}

BOOST_AUTO_TEST_SUITE_END()
