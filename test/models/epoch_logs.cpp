// Rows and scalars that callbacks of fit() write for each epoch.
#include "actors/models/fit/callbacks.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <span>
#include <string>

#include "actors/models/model.h"
#include "test/models/support/step_counter.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(epoch_logs)

using namespace actorflow;
using namespace actorflow::test;

BOOST_AUTO_TEST_CASE(epochs_become_rows_and_scalars) {
  const Folder folder;
  Model model = step_counter();
  const std::string rows = folder.file("log.csv"), events = folder.file("events");
  model.fit(examples(2), with({made_up({0.5, 0.25}), csv_logger(rows), tensorboard(events)}, 2));
  BOOST_TEST(read_file(rows) == "epoch,loss,val_loss\n1,-0.5,0.5\n2,-2.5,0.25\n");
  BOOST_TEST(!std::filesystem::is_empty(events + "/validation"));
}

// Interrupted after the first of two batches of the fourth epoch, which that row is of at first.
BOOST_AUTO_TEST_CASE(an_epoch_that_goes_on_after_an_interruption_replaces_its_row) {
  for (const bool append : {false, true}) {
    MemoryStorage disk;
    std::atomic<bool> interrupted = false;
    const auto train = [&](bool whole) {
      FitOptions options = with({csv_logger("log.csv", append), backup_and_restore("backup")}, 10);
      options.interrupted = &interrupted;
      if (!whole)
        options.callbacks.push_back(
            callback({.on_batch_end = [&](FitContext& training, std::int64_t, const Logs&) {
              interrupted = training.model().progress().epoch == 4;
            }}));
      Model model = step_counter(disk);
      model.fit(examples(2), options);
    };
    train(false);
    BOOST_TEST(text_of(disk, "log.csv").ends_with("\n4,-6\n"));
    interrupted = false;
    train(true);
    BOOST_TEST(text_of(disk, "log.csv") ==
               "epoch,loss\n1,-0.5\n2,-2.5\n3,-4.5\n4,-6.5\n5,-8.5\n6,-10.5\n7,-12.5\n8,-14.5\n"
               "9,-16.5\n10,-18.5\n");
  }
}

BOOST_AUTO_TEST_CASE(the_rows_of_an_earlier_training_stay) {
  MemoryStorage disk;
  for (int call = 0; call < 2; ++call) {
    Model model = step_counter(disk);
    model.fit(examples(), with({csv_logger("log.csv", true)}, 2));
  }
  BOOST_TEST(text_of(disk, "log.csv") == "epoch,loss\n1,0\n2,-1\n1,0\n2,-1\n");
}

BOOST_AUTO_TEST_CASE(a_log_that_goes_on_keeps_its_columns) {
  MemoryStorage disk;
  const std::string old = "epoch,accuracy,val_loss,loss\n1,0.5,2,1\n";
  const auto log = [&](const std::string& text, const Callbacks& before = {}) {
    disk.write_atomically("log.csv", std::as_bytes(std::span(text)));
    Callbacks all = before;
    all.push_back(csv_logger("log.csv", true));
    Model model = step_counter(disk);
    model.fit(examples(), with(all, 2));
    return text_of(disk, "log.csv");
  };
  BOOST_TEST(log(old, {made_up({7, 8})}) == old + "1,,7,0\n2,,8,-1\n");
  BOOST_TEST(log(old + "2,0.") == old + "1,,,0\n2,,,-1\n");  // its program ended within a row
  const auto refused = [&](const std::string& text, const std::string& what, const Callbacks& before) {
    BOOST_CHECK_EXCEPTION(log(text, before), Error, says(what));
    BOOST_TEST(text_of(disk, "log.csv") == text);
  };
  const auto odd =
      callback({.on_epoch_end = [](FitContext&, int, Logs& logs) { logs.set("a,\"b\"", 3); }});
  const std::string quoted = "epoch,\"a,\"\"b\"\"\",loss\n";
  BOOST_TEST(log(quoted, {odd}) == quoted + "1,3,0\n2,3,-1\n");
  int epochs = 0;
  const auto count = callback({.on_epoch_end = [&](FitContext&, int, Logs&) { ++epochs; }});
  refused("epoch,accuracy\n1,0.5\n",
          "log.csv has the columns 'epoch,accuracy', but this fit() logs 'epoch,loss'", {count});
  refused("step,loss\n1,0.5\n", "has the columns 'step,loss', but this fit() logs 'epoch,loss'",
          {count});
  BOOST_TEST(epochs == 0);
  refused("epoch,loss\n1,0.5\n", "'epoch,loss', but this fit() logs 'epoch,loss,val_loss'",
          {made_up({7, 8})});
}

BOOST_AUTO_TEST_CASE(a_disk_that_is_full_for_a_while_ends_no_training_and_costs_no_row) {
  MemoryStorage disk;
  Model model = step_counter(disk);
  const auto history = model.fit(
      examples(), with({full_in(disk, {1, 3, 4}), csv_logger("log.csv"), tensorboard("events"),
                        model_checkpoint("saved"), backup_and_restore("backup", {.keep = true})},
                       5));
  BOOST_TEST(history.epochs.size() == 5U);
  BOOST_TEST(text_of(disk, "log.csv") == "epoch,loss\n1,0\n2,-1\n3,-2\n4,-3\n5,-4\n");
  for (const char* folder : {"saved", "backup"})
    BOOST_TEST(saved_steps(disk, folder) == (std::vector<std::int64_t>{5, 2}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(rows_that_a_full_disk_refuses_follow_those_of_an_earlier_log) {
  MemoryStorage disk;
  Model model = step_counter(disk);
  model.fit(examples(), with({csv_logger("log.csv")}, 1));
  FitOptions more = with({full_in(disk, {2}), csv_logger("log.csv", true)}, 3);
  more.initial_epoch = 1;
  model.fit(examples(), more);
  BOOST_TEST(text_of(disk, "log.csv") == "epoch,loss\n1,0\n2,-1\n3,-2\n");
}

BOOST_AUTO_TEST_SUITE_END()
