// Training that a callback has stopped, and that is lost before its end, or begun another time.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <utility>
#include <vector>

#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "actors/monitored/training_end.h"
#include "dataflow/values/error.h"
#include "test/models/support/step_counter.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(stopped_training)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Epochs = std::vector<int>;

// Callbacks of a user's own, without a state.
CallbackRef stop_in(int epoch) {
  return callback({.on_epoch_end = [epoch](FitContext& training, int ended, Logs&) {
    if (ended == epoch) training.stop();
  }});
}

CallbackRef stop_after_batch(int epoch, std::int64_t batch) {
  return callback({.on_batch_end = [=](FitContext& training, std::int64_t made, const Logs&) {
    if (training.model().progress().epoch == epoch && made == batch) training.stop();
  }});
}

CallbackRef interrupt_in(int epoch, std::atomic<bool>& interrupted) {
  return callback(
      {.on_batch_end = [epoch, &interrupted](FitContext& training, std::int64_t, const Logs&) {
        if (training.model().progress().epoch == epoch) interrupted = true;
      }});
}

CallbackRef fail_at_the_end() {
  return callback({.on_train_end = [](FitContext&) { throw invalid_argument("lost"); }});
}

// Epochs of one batch in one process, which saves a backup.
struct BackedUp {
  History fit(Model& model, Callbacks callbacks, int epochs, std::atomic<bool>* interrupted = nullptr) {
    callbacks.push_back(backup_and_restore("backup"));
    FitOptions options = with(std::move(callbacks), epochs);
    options.interrupted = interrupted;
    return model.fit(examples(), options);
  }
  // Its callbacks fail when they hear of the end, before the backup is removed.
  void lose_after(const CallbackRef& stop) {
    Model lost = step_counter(disk);
    BOOST_CHECK_EXCEPTION(fit(lost, {stop, fail_at_the_end()}, 7), Error, says("lost"));
  }

  MemoryStorage disk;
};

// One worker, which saves into a folder.
struct Saving {
  History fit(Model& model, Callbacks callbacks, int epochs, std::int64_t batches = 1) {
    LocalCluster cluster({{"worker", 1}});
    FitOptions options = with(std::move(callbacks), epochs);
    options.interrupted = &interrupted;
    options.strategy = MultiWorkerMirrored{cluster.server("worker", 0),
                                           {.checkpoint_folder = folder.path(),
                                            .save_checkpoint = {.steps = save_steps, .seconds = 600},
                                            .mark_end = mark_end}};
    return model.fit(examples(batches), options);
  }
  // As if its chief had been lost between the last checkpoint and the mark of the end.
  void lose_after(const Callbacks& callbacks, std::int64_t batches = 1) {
    Model lost = step_counter();
    fit(lost, callbacks, 7, batches);
    BOOST_TEST(read_training_end(posix_storage(), folder.path()).value().steps == 7 * batches);
    BOOST_TEST_REQUIRE(std::filesystem::remove(folder.file("training-complete")));
  }

  std::int64_t save_steps = 0;
  bool mark_end = true;
  Folder folder{};
  std::atomic<bool> interrupted = false;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_backup_of_training_that_was_stopped_is_trained_no_more, BackedUp) {
  lose_after(stop_in(3));
  Model again = step_counter(disk), anew = step_counter(disk);
  BOOST_TEST(fit(again, {}, 7).epochs.empty());
  BOOST_TEST(weight_of(again) == -3.F);
  // It has come to its end now: another fit() is another training.
  BOOST_TEST(fit(anew, {}, 2).epochs == (Epochs{1, 2}), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(with_more_epochs_it_goes_on_from_its_backup, BackedUp) {
  lose_after(stop_in(3));
  Model again = step_counter(disk);
  BOOST_TEST(fit(again, {}, 8).epochs == (Epochs{4, 5, 6, 7, 8}), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(a_backup_of_interrupted_training_is_trained_on, BackedUp) {
  std::atomic<bool> interrupted = false;
  Model first = step_counter(disk), second = step_counter(disk), third = step_counter(disk);
  fit(first, {interrupt_in(3, interrupted)}, 7, &interrupted);
  interrupted = false;
  BOOST_TEST(fit(second, {stop_in(5)}, 7, &interrupted).epochs == (Epochs{4, 5}),
             boost::test_tools::per_element());
  BOOST_TEST(fit(third, {}, 4).epochs == (Epochs{1, 2, 3, 4}), boost::test_tools::per_element());
}

// Whoever was told both to stop and to leave is done.
BOOST_FIXTURE_TEST_CASE(a_stop_counts_more_than_an_interrupt_of_the_same_step, BackedUp) {
  std::atomic<bool> interrupted = false;
  Model first = step_counter(disk), second = step_counter(disk);
  fit(first, {interrupt_in(3, interrupted), stop_in(3)}, 7, &interrupted);
  BOOST_TEST(fit(second, {}, 7).epochs.empty());
  BOOST_TEST(weight_of(second) == -3.F);
}

BOOST_FIXTURE_TEST_CASE(a_chief_that_comes_back_trains_no_more, Saving) {
  lose_after({stop_in(3)});
  Model again = step_counter(), once_more = step_counter(), further = step_counter();
  BOOST_TEST(fit(again, {}, 7).epochs.empty());
  BOOST_TEST(weight_of(again) == -3.F);
  BOOST_TEST(read_training_end(posix_storage(), folder.path()).value().steps == 7);
  // After its end, too.
  BOOST_TEST(fit(once_more, {}, 7).epochs.empty());
  BOOST_TEST(weight_of(once_more) == -3.F);
  // Another fit(), with another end.
  BOOST_TEST(fit(further, {}, 9).epochs == (Epochs{4, 5, 6, 7, 8, 9}), boost::test_tools::per_element());
  BOOST_TEST(weight_of(further) == -9.F);
}

// The step is saved before callbacks hear of it: only the last checkpoint knows of the stop.
BOOST_AUTO_TEST_CASE(a_stop_within_an_epoch_is_known_also_if_its_step_was_saved_before) {
  for (const std::int64_t save_steps : {0, 1}) {
    Saving saving{.save_steps = save_steps};
    saving.lose_after({stop_after_batch(2, 1)}, 2);
    Model again = step_counter();
    BOOST_TEST(saving.fit(again, {}, 7, 2).epochs.empty());
    BOOST_TEST(weight_of(again) == -3.F);
  }
}

BOOST_FIXTURE_TEST_CASE(a_chief_that_comes_back_ends_with_the_best_weights, Saving) {
  const auto callbacks = [] {
    return Callbacks{made_up({0.5, 0.2, 0.4, 0.3, 0.25, 0.1, 0.1}),
                     early_stopping({.patience = 3, .restore_best_weights = true})};
  };
  lose_after(callbacks());
  Model again = step_counter();
  BOOST_TEST(fit(again, callbacks(), 7).epochs.empty());
  BOOST_TEST(again.step() == 5);
  BOOST_TEST(weight_of(again) == -2.F);
}

// The checkpoint is of the last step of an epoch, whose end the callbacks hear of when it is restored.
BOOST_AUTO_TEST_CASE(a_stop_at_the_end_of_an_epoch_that_was_lost_costs_no_step) {
  Saving saving{.save_steps = 1};
  const auto fail = callback({.on_epoch_end = [](FitContext&, int epoch, Logs&) {
    if (epoch == 3) throw invalid_argument("lost");
  }});
  Model first = step_counter(), second = step_counter();
  BOOST_CHECK_EXCEPTION(saving.fit(first, {fail}, 7), Error, says("lost"));
  BOOST_TEST(saving.fit(second, {stop_in(3)}, 7).epochs == (Epochs{3}),
             boost::test_tools::per_element());
  BOOST_TEST(weight_of(second) == -3.F);
}

BOOST_FIXTURE_TEST_CASE(an_interrupted_chief_trains_on_when_it_is_started_again, Saving) {
  Model first = step_counter(), second = step_counter();
  fit(first, {interrupt_in(3, interrupted)}, 7);
  BOOST_TEST(weight_of(first) == -3.F);
  interrupted = false;
  BOOST_TEST(fit(second, {}, 7).epochs == (Epochs{4, 5, 6, 7}), boost::test_tools::per_element());
  BOOST_TEST(weight_of(second) == -7.F);
}

// Nothing tells it from a chief that comes back after the end.
BOOST_AUTO_TEST_CASE(without_a_mark_of_the_end_another_fit_trains_on) {
  Saving saving{.mark_end = false};
  Model first = step_counter(), second = step_counter();
  saving.fit(first, {stop_in(3)}, 7);
  BOOST_TEST(weight_of(first) == -3.F);
  BOOST_TEST(saving.fit(second, {}, 7).epochs == (Epochs{4, 5, 6, 7}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
