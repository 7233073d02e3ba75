// Callbacks of fit().
#include "actors/models/fit/callbacks.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "actors/checkpoint/checkpoint.h"
#include "actors/events/event_reader.h"
#include "actors/models/model.h"
#include "actors/runtime/threaded_runtime.h"
#include "test/actors/support/memory_storage.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A callback that makes up the values of "val_loss", one epoch after the other.
CallbackRef made_up(std::vector<double> values) {
  return callback({.on_epoch_end = [values = std::move(values)](FitContext&, int epoch, Logs& logs) {
    logs.set("val_loss", values.at(static_cast<std::size_t>(epoch - 1)));
  }});
}

std::shared_ptr<Runtime> runtime_on(Storage& disk) {
  return std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 2, .storage = &disk});
}

// A disk on which somebody else does something after each listing.
class SharedDisk final : public Storage {
 public:
  SharedDisk(Storage& disk, std::function<void()> other) : disk_(disk), other_(std::move(other)) {}

  std::vector<std::string> list(const std::string& folder) override {
    auto names = disk_.list(folder);
    other_();
    return names;
  }
  std::unique_ptr<NewFile> create(const std::string& path) override { return disk_.create(path); }
  std::unique_ptr<OpenFile> open(const std::string& path) override { return disk_.open(path); }
  void append(const std::string& path, std::span<const std::byte> bytes) override {
    disk_.append(path, bytes);
  }
  bool exists(const std::string& path) override { return disk_.exists(path); }
  void remove(const std::string& path) override { disk_.remove(path); }
  void sync(const std::string& folder) override { disk_.sync(folder); }
  double wall_time_s() override { return disk_.wall_time_s(); }

 private:
  Storage& disk_;
  std::function<void()> other_;
};

// A model whose only weight becomes smaller by 1 in each step: the number of steps, negative.
Model step_counter(Storage& disk = posix_storage()) {
  Model model(chain({constant_layer(0)}), runtime_on(disk));
  model.compile({.loss = {{"value", [](Output p, Output) { return p; }}}, .optimizer = Sgd{1}});
  return model;
}

float weight_of(Model& model) { return model.weights().at("constant/value").values<float>()[0]; }

TrainingData examples(std::int64_t count = 1) {
  return {Tensor::zeros(DType::float32, {count, 1}), Tensor::zeros(DType::float32, {count, 1})};
}

FitOptions with(Callbacks callbacks, int epochs) {
  return quiet({.epochs = epochs, .batch_size = 1, .callbacks = std::move(callbacks)});
}

void fill(MemoryStorage& disk, bool is_full) {
  const std::scoped_lock lock(disk.mutex);
  disk.commits_left = is_full ? 0 : std::numeric_limits<int>::max();
}

// A callback that fills the disk in these epochs.
CallbackRef full_in(MemoryStorage& disk, std::set<int> epochs) {
  return callback({.on_epoch_begin = [&disk, epochs = std::move(epochs)](FitContext&, int epoch) {
    fill(disk, epochs.contains(epoch));
  }});
}

std::string text_of(const MemoryStorage& disk, const std::string& path) {
  const auto& bytes = disk.files.at(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::int64_t> saved_steps(Storage& disk, const std::string& folder) {
  std::vector<std::int64_t> steps;
  for (const auto& path : list_checkpoints(disk, folder)) {
    BOOST_TEST(verify_checkpoint(disk, path).empty(), path);
    steps.push_back(read_manifest(disk, path).global_step);
  }
  return steps;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(callbacks)

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

BOOST_AUTO_TEST_CASE(an_interrupted_training_goes_on_in_the_epoch_where_it_was) {
  const Folder folder;
  const auto backup = [&] { return backup_and_restore(folder.file("backup"), {.every_batches = 2}); };
  const auto train = [&](Callbacks callbacks, int* epochs = nullptr) {
    Model model = sequential({dense(4, tanh), dropout(0.3), dense(1)});
    model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.01}});
    const auto [x, y] = points_of_a_line(20);
    callbacks.push_back(callback({.on_epoch_begin = [&](FitContext&, int) { epochs ? ++*epochs : 0; }}));
    model.fit({x, y}, quiet({.epochs = 10, .batch_size = 4, .callbacks = std::move(callbacks)}));
    return model.weights();
  };
  const auto interrupt =
      callback({.on_batch_end = [](FitContext& training, std::int64_t batch, const Logs&) {
        if (training.model().progress().epoch == 5 && batch == 3)
          throw Error(Code::cancelled, "interrupted");
      }});
  BOOST_CHECK_EXCEPTION(train({backup(), interrupt}), Error, says("interrupted"));
  int epochs = 0;
  const auto resumed = train({backup()}, &epochs);
  BOOST_TEST(epochs == 6);
  BOOST_TEST(same(resumed, train({})));
  BOOST_TEST(std::filesystem::is_empty(folder.file("backup")));
}

BOOST_AUTO_TEST_CASE(a_damaged_backup_is_passed_over) {
  const Folder folder;
  Model model = step_counter();
  model.fit(examples(), with({backup_and_restore(folder.path(), {.keep = true})}, 4));
  std::ofstream(folder.file("step-4.manifest"), std::ios::binary) << "nonsense";
  Model again = step_counter();
  std::vector<int> epochs;
  const auto note =
      callback({.on_epoch_begin = [&](FitContext&, int epoch) { epochs.push_back(epoch); }});
  again.fit(examples(), with({backup_and_restore(folder.path()), note}, 5));
  BOOST_TEST(epochs == (std::vector<int>{4, 5}), boost::test_tools::per_element());
  BOOST_TEST(weight_of(again) == -5.F);
}

BOOST_AUTO_TEST_CASE(the_best_model_is_saved_with_its_step) {
  const Folder folder;
  Model model = step_counter();
  model.fit(
      examples(),
      with({made_up({0.3, 0.1, 0.2}), model_checkpoint(folder.path(), {.monitor = "val_loss"})}, 3));
  Model loaded = step_counter();
  loaded.fit(examples(), with({}, 1));
  loaded.load(folder.path());
  BOOST_TEST(weight_of(loaded) == -2.F);
  BOOST_TEST(loaded.step() == 2);
  BOOST_TEST(loaded.progress().epoch == 3);
}

// The third one falls into the second epoch.
BOOST_AUTO_TEST_CASE(a_model_is_saved_after_so_many_batches) {
  MemoryStorage disk;
  Model model = step_counter(disk);
  model.fit(examples(4), with({model_checkpoint("saved", {.save_freq = 3})}, 3));
  BOOST_TEST(saved_steps(disk, "saved") == (std::vector<std::int64_t>{12, 9, 6, 3}),
             boost::test_tools::per_element());
  Model best = step_counter(disk);  // its loss falls with each step
  best.fit(examples(4),
           with({model_checkpoint("best",
                                  {.monitor = "loss", .save_freq = 1, .initial_value_threshold = -1.5})},
                1));
  BOOST_TEST(saved_steps(disk, "best") == (std::vector<std::int64_t>{4, 3}),
             boost::test_tools::per_element());
}

// As in Keras: weights, averages among them; no slots, step or rate.
BOOST_AUTO_TEST_CASE(weights_are_saved_alone) {
  MemoryStorage disk;
  Model model = step_counter(disk);
  model.fit(examples(),
            with({made_up({0.3, 0.1, 0.2}),
                  model_checkpoint("best", {.monitor = "val_loss", .save_weights_only = true}),
                  model_checkpoint("all")},
                 3));
  const auto saved = load_latest_checkpoint(disk, "best");
  BOOST_TEST_REQUIRE(saved.has_value());
  BOOST_TEST(saved->global_step == 2);
  BOOST_TEST(same(saved->tensors, {{"constant/value", Tensor::of<float>({1}, {-2})}}));

  model.set_learning_rate(0.25);
  model.load_weights("best");
  BOOST_TEST(weight_of(model) == -2.F);
  BOOST_TEST(model.step() == 3);
  BOOST_TEST(model.learning_rate() == 0.25);
  model.load_weights("all");
  BOOST_TEST(weight_of(model) == -3.F);
  BOOST_CHECK_EXCEPTION(model.load("best"), Error,
                        says("best has the weights of a model alone, from which training cannot go on"));
  BOOST_CHECK_EXCEPTION(model.load_weights("nowhere"), Error, says("no weights of a model in nowhere"));
}

BOOST_AUTO_TEST_CASE(damaged_weights_are_passed_over_and_those_of_another_model_refused) {
  MemoryStorage disk;
  Model model = step_counter(disk);
  model.fit(examples(), with({model_checkpoint("saved", {.save_weights_only = true})}, 2));
  disk.write_atomically("saved/step-2.manifest", {});
  model.load_weights("saved");
  BOOST_TEST(weight_of(model) == -1.F);
  Model other(chain({dense(1)}, input({1})), runtime_on(disk));
  BOOST_CHECK_EXCEPTION(other.load_weights("saved"), Error,
                        says("saved/step-1.manifest: these weights are not the model's:"));
}

// Three times the only checkpoint is gone before it is read.
BOOST_AUTO_TEST_CASE(weights_are_loaded_beside_one_who_saves_and_keeps_the_newest_alone) {
  MemoryStorage disk;
  std::int64_t step = 0;
  const auto save_next = [&] {
    if (++step > 4) return;
    const Tensor weight = Tensor::of<float>({1}, {static_cast<float>(step)});
    save_checkpoint(disk, "saved", {.global_step = step, .tensors = {{"constant/value", weight}}},
                    {.max_to_keep = 1});
  };
  save_next();
  SharedDisk shared(disk, save_next);
  Model model(chain({constant_layer(0)}, input({1})), runtime_on(shared));
  model.load_weights("saved");
  BOOST_TEST(weight_of(model) == 4.F);
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

BOOST_AUTO_TEST_CASE(replicas_save_after_so_many_steps_of_all) {
  const Folder folder;
  Model model = step_counter();
  FitOptions options = with({model_checkpoint(folder.path(), {.save_freq = 3})}, 3);
  options.batch_size = 2;
  options.strategy = Mirrored{2};
  model.fit(examples(4), options);
  BOOST_TEST(saved_steps(posix_storage(), folder.path()) == (std::vector<std::int64_t>{6, 3}),
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
               "epoch,loss\n1,-0.5\n2,-2.5\n3,-4.5\n4,-7\n5,-8.5\n6,-10.5\n7,-12.5\n8,-14.5\n"
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

BOOST_AUTO_TEST_CASE(a_model_is_loaded_from_a_disk_that_fails_for_a_moment) {
  MemoryStorage disk;
  Model model = step_counter(disk);
  model.fit(examples(), with({model_checkpoint("saved")}, 3));
  Model loaded = step_counter(disk);
  loaded.fit(examples(), with({}, 1));
  disk.failing_lists = 1;
  loaded.load("saved");
  BOOST_TEST(weight_of(loaded) == -3.F);
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

BOOST_AUTO_TEST_CASE(the_best_model_is_the_best_that_could_be_saved) {
  MemoryStorage disk;
  Model model = step_counter(disk);
  model.fit(examples(), with({full_in(disk, {2}), made_up({0.3, 0.1, 0.2, 0.25}),
                              model_checkpoint("saved", {.monitor = "val_loss"})},
                             4));
  BOOST_TEST(saved_steps(disk, "saved") == (std::vector<std::int64_t>{3, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_last_model_waits_for_a_full_disk) {
  MemoryStorage disk;
  Model model = step_counter(disk);
  std::jthread room;
  const auto make_room = callback({.on_epoch_end = [&](FitContext&, int epoch, Logs&) {
    if (epoch == 2)
      room = std::jthread([&disk] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        fill(disk, false);
      });
  }});
  model.fit(examples(), with({full_in(disk, {2}), model_checkpoint("saved"), make_room}, 2));
  BOOST_TEST(saved_steps(disk, "saved").front() == 2);
}

BOOST_AUTO_TEST_CASE(what_is_interrupted_in_an_epoch_goes_on_there) {
  const Folder folder;
  std::atomic<bool> interrupted = false;
  const auto train = [&](Callbacks callbacks) {
    Model model = sequential({dense(4, tanh), dropout(0.3), dense(1)});
    model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.01}});
    const auto [x, y] = points_of_a_line(20);
    model.fit({x, y}, quiet({.epochs = 3,
                             .batch_size = 4,
                             .callbacks = std::move(callbacks),
                             .interrupted = &interrupted}));
    return model.weights();
  };
  const auto expected = train({});
  for (const int epoch : {2, 3}) {
    const auto interrupt =
        callback({.on_batch_end = [&](FitContext& training, std::int64_t batch, const Logs&) {
          if (training.model().progress().epoch == epoch && batch == 2) interrupted = true;
        }});
    train({backup_and_restore(folder.file("backup")), interrupt});
    interrupted = false;
    BOOST_TEST(same(train({backup_and_restore(folder.file("backup"))}), expected));
    BOOST_TEST(std::filesystem::is_empty(folder.file("backup")));
  }
}

BOOST_AUTO_TEST_CASE(training_that_ends_early_is_complete_and_keeps_no_backup) {
  const Folder folder;
  Model model = step_counter();
  model.fit(examples(), with({made_up({1, 2, 3, 4}), early_stopping({.patience = 1}),
                              backup_and_restore(folder.path())},
                             4));
  BOOST_TEST(weight_of(model) == -2.F);
  BOOST_TEST(std::filesystem::is_empty(folder.path()));
}

BOOST_AUTO_TEST_CASE(what_is_beside_a_backup_stays) {
  const Folder folder;
  write_file(folder.file("notes.txt"), "mine");
  Model model = step_counter();
  model.fit(examples(), with({backup_and_restore(folder.path())}, 2));
  BOOST_TEST(read_file(folder.file("notes.txt")) == "mine");
  BOOST_TEST(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
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

BOOST_AUTO_TEST_SUITE_END()
