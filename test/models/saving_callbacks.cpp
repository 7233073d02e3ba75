// Callbacks of fit() that save: backups, the best model, weights alone.
#include "actors/models/fit/callbacks.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "actors/checkpoint/checkpoint.h"
#include "actors/models/model.h"
#include "test/models/support/step_counter.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(saving_callbacks)

using namespace actorflow;
using namespace actorflow::test;

namespace {

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

// Three epochs of three batches.
History fit_line(const Distribution& strategy, Callbacks callbacks) {
  Model model = sequential({dense(4, tanh), dense(1)});
  model.compile({.loss = mean_squared_error(),
                 .optimizer = Sgd{0.1},
                 .metrics = {metric_of(mean_absolute_error()), precision()}});
  const auto [x, y] = points_of_a_line(10);
  return model.fit(
      {x, y},
      quiet({.epochs = 3, .batch_size = 4, .callbacks = std::move(callbacks), .strategy = strategy}));
}

}  // namespace

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

// The program is killed after so many batches of the second epoch, which has three.
BOOST_AUTO_TEST_CASE(an_epoch_that_goes_on_from_a_backup_has_the_logs_of_all_its_batches) {
  for (const Distribution& strategy : {Distribution(OneDevice{}), Distribution(Mirrored{2})})
    for (const std::int64_t batches : {2, 3}) {
      const Folder folder;
      const auto kill = [] { throw Error(Code::cancelled, "killed"); };
      const auto killing = callback(
          {.on_batch_end =
               [&](FitContext& training, std::int64_t batch, const Logs&) {
                 if (training.model().progress().epoch == 2 && batch > batches) kill();
               },
           .on_epoch_end = [&](FitContext&, int epoch, Logs&) { epoch == 2 ? kill() : void(); }});
      const auto backup = backup_and_restore(folder.file("backup"), {.every_batches = 1});
      BOOST_CHECK_EXCEPTION(fit_line(strategy, {backup, killing}), Error, says("killed"));
      const History whole = fit_line(strategy, {}), rest = fit_line(strategy, {backup});
      BOOST_TEST(rest.epochs == (std::vector<int>{2, 3}));
      for (const std::size_t i : {0, 1})
        BOOST_TEST((rest.logs.at(i).values() == whole.logs[i + 1].values()));
    }
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

BOOST_AUTO_TEST_SUITE_END()
