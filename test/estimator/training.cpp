// Training: its limits, its folder, and how it goes on.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "actors/checkpoint/checkpoint.h"
#include "actors/models/fit/callbacks.h"
#include "test/estimator/support/flowers.h"
#include "test/estimator/support/says_all.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(training)

using namespace actorflow;
using namespace actorflow::test;

namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<std::int64_t>;

Numbers saved_steps(const Folder& folder) {
  Numbers steps;
  for (const auto& path : list_checkpoints(posix_storage(), folder.path()))
    steps.push_back(read_manifest(posix_storage(), path).global_step);
  return steps;
}

std::uint64_t trained_hash(const Estimator& estimator) {
  auto variables = estimator.variables();
  variables.erase("fit_progress");
  return hash_of(variables);
}

void expect_refused(const Estimator& estimator, const InputFn& input,
                    const EstimatorTrainOptions& options, std::vector<std::string> words) {
  BOOST_CHECK_EXCEPTION(estimator.train(input, options), Error, says_all(std::move(words)));
}

// Notes the steps that are trained, and does something at one of them.
CallbackRef noting(Numbers& steps, std::int64_t at = -1, std::function<void(FitContext&)> what = {}) {
  return callback(
      {.on_batch_end = [&steps, at, what](FitContext& context, std::int64_t step, const Logs&) {
        steps.push_back(step);
        if (step == at) what(context);
      }});
}

void damage_newest(const Folder& folder) {
  const auto manifest =
      read_manifest(posix_storage(), *latest_checkpoint(posix_storage(), folder.path()));
  std::fstream file(folder.file(manifest.files.front().name), std::ios::in | std::ios::out);
  file.seekp(-1, std::ios::end);
  file.put('\x55');
}

}  // namespace

BOOST_AUTO_TEST_CASE(steps_are_more_and_max_steps_are_in_all) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  line.train(points_of_a_line(), {.steps = 4});
  BOOST_TEST(line.latest_step().value() == 4);
  line.train(points_of_a_line(), {.steps = 4});
  BOOST_TEST(line.latest_step().value() == 8);
  line.train(points_of_a_line(), {.max_steps = 10});
  BOOST_TEST(line.latest_step().value() == 10);
}

BOOST_AUTO_TEST_CASE(an_input_that_ends_ends_training_and_begins_anew_the_next_time) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  Numbers batches;
  line.train(points_of_a_line(8, 1), {.callbacks = {noting(batches)}});
  line.train(points_of_a_line(8, 2), {.callbacks = {noting(batches)}});
  BOOST_TEST(batches == (Numbers{1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8}), boost::test_tools::per_element());
  BOOST_TEST(line.latest_step().value() == 12);
}

BOOST_AUTO_TEST_CASE(replicas_in_one_process_begin_an_input_that_ends_anew_too) {
  const Folder one, two;
  const auto alone = line_of({.model_dir = one.path()});
  const auto together = line_of({.model_dir = two.path(), .strategy = Mirrored{2}});
  for (const auto& line : {alone, together})
    for (int time = 0; time < 2; ++time) line.train(points_of_a_line(8, 2), {});
  BOOST_TEST(together.latest_step().value() == 16);
  for (const char* name : {"linear_model/x/weights", "linear_model/bias"})
    BOOST_TEST(std::abs(together.variables().at(name).values<float>()[0] -
                        alone.variables().at(name).values<float>()[0]) < 1e-5F,
               name);
}

BOOST_AUTO_TEST_CASE(a_pipeline_trains_what_one_device_trains) {
  const auto trained = [](const Distribution& strategy) {
    const Folder folder;
    const DNNRegressor network({.feature_columns = {numeric_column("x")},
                                .hidden_units = {4, 4},
                                .config = {.model_dir = folder.path(), .strategy = strategy}});
    network.train(points_of_a_line(8), {.steps = 20});
    BOOST_TEST(network.latest_step().value() == 20);
    return network.variables();
  };
  const auto alone = trained(OneDevice{});
  const auto in_stages = trained(Pipeline{PipelineOptions{.stages = 2, .micro_batches = 4}});
  for (const auto& [name, value] : alone) {
    if (name == "fit_progress" || value.dtype() != DType::float32) continue;
    BOOST_TEST_REQUIRE(in_stages.contains(name), name);
    const auto there = in_stages.at(name).values<float>();
    for (std::size_t i = 0; i < there.size(); ++i)
      BOOST_TEST(std::abs(there[i] - value.values<float>()[i]) < 1e-5F, name);
  }
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_no_number_fails_and_the_checkpoint_before_it_stays) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  line.train(points_of_a_line(), {.steps = 3});
  const Tensor bad = Tensor::of<float>({1}, {std::numeric_limits<float>::quiet_NaN()});
  BOOST_CHECK_EXCEPTION(line.train(tensor_input_fn({{"x", bad}}, bad, {.batch_size = 1}), {.steps = 3}),
                        Error, [](const Error& error) { return error.code() == Code::not_finite; });
  BOOST_TEST(line.latest_step().value() == 3);
}

BOOST_AUTO_TEST_CASE(an_evaluator_trains_nothing) {
  const Folder folder;
  expect_refused(line_of({.model_dir = folder.path(), .is_evaluator = true}), points_of_a_line(),
                 {.steps = 3}, {"the evaluator", "train_and_evaluate"});
}

BOOST_AUTO_TEST_CASE(asynchronous_workers_train_until_max_steps) {
  constexpr int max_steps = 400;  // enough also where a busy machine makes most gradients late
  const Folder folder;
  LocalCluster cluster({{"ps", 1}, {"worker", 2}});
  const auto train = [&](const std::string& job, int task) {
    const ParameterServer strategy(cluster.server(job, task), {.strategy = Asynchronous{}});
    line_of({.model_dir = folder.path(), .strategy = strategy})
        .train(points_of_a_line(), {.max_steps = max_steps});
  };
  std::thread server([&] { train("ps", 0); });
  run_on_threads(cluster, 2, [&](int task) { train("worker", task); });
  server.join();
  const auto line = line_of({.model_dir = folder.path()});
  BOOST_TEST(line.latest_step().value() >= max_steps);
  BOOST_TEST(line.evaluate(points_of_a_line()).at("loss") < 0.5);  // 2.4 at first
}

BOOST_AUTO_TEST_CASE(limits_that_make_no_sense_are_refused) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  expect_refused(line, points_of_a_line(), {.steps = 3, .max_steps = 5},
                 {"steps (3)", "max_steps (5)", "not both"});
  expect_refused(line, points_of_a_line(), {.steps = 0}, {"steps of 1 or more", "0"});
  expect_refused(line, points_of_a_line(), {.max_steps = -1}, {"max_steps of 1 or more", "-1"});
  expect_refused(line, points_of_a_line(), {}, {"no end", "steps or max_steps", "num_epochs"});
  expect_refused(line, points_of_a_line(0), {.steps = 1}, {"batch size", "0"});
  BOOST_TEST(fs::is_empty(folder.path()));
}

BOOST_AUTO_TEST_CASE(at_max_steps_nothing_is_done) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  line.train(points_of_a_line(), {.max_steps = 5});
  std::vector<std::pair<fs::path, fs::file_time_type>> before, after;
  const auto note = [&](auto& files) {
    for (const auto& file : fs::recursive_directory_iterator(folder.path()))
      files.emplace_back(file.path(), file.last_write_time());
  };
  note(before);
  bool began = false;
  const auto noting_begin = callback({.on_train_begin = [&](FitContext&) { began = true; }});
  line.train(points_of_a_line(), {.max_steps = 5, .callbacks = {noting_begin}});
  line.train(points_of_a_line(), {.max_steps = 3, .callbacks = {noting_begin}});
  note(after);
  BOOST_TEST(!began);
  BOOST_TEST((before == after));
}

BOOST_AUTO_TEST_CASE(what_goes_on_is_what_was_never_interrupted) {
  const Folder whole, parts;
  const auto at_once = DNNClassifier(flower_options({.model_dir = whole.path()}));
  at_once.train(training_flowers(), {.max_steps = 20});
  const auto in_parts = DNNClassifier(flower_options({.model_dir = parts.path()}));
  in_parts.train(training_flowers(), {.max_steps = 7});
  DNNClassifier(flower_options({.model_dir = parts.path()})).train(training_flowers(), {.steps = 13});
  BOOST_TEST(in_parts.latest_step().value() == 20);
  BOOST_TEST(trained_hash(in_parts) == trained_hash(at_once));
}

BOOST_AUTO_TEST_CASE(a_damaged_newest_checkpoint_is_passed_over) {
  const Folder whole, damaged;
  const auto at_once = DNNClassifier(flower_options({.model_dir = whole.path()}));
  at_once.train(training_flowers(), {.max_steps = 20});
  const auto estimator = DNNClassifier(flower_options({.model_dir = damaged.path()}));
  estimator.train(training_flowers(), {.max_steps = 10});
  estimator.train(training_flowers(), {.max_steps = 20});
  damage_newest(damaged);
  Numbers steps;
  estimator.train(training_flowers(), {.max_steps = 20, .callbacks = {noting(steps)}});
  BOOST_TEST(steps.front() == 11);
  BOOST_TEST(trained_hash(estimator) == trained_hash(at_once));
}

BOOST_AUTO_TEST_CASE(checkpoints_are_saved_in_steps_and_the_newest_are_kept) {
  const Folder folder;
  const auto line =
      line_of({.model_dir = folder.path(), .save_checkpoints_steps = 4, .keep_checkpoint_max = 3});
  line.train(points_of_a_line(), {.steps = 18});
  BOOST_TEST(saved_steps(folder) == (Numbers{18, 16, 12}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_interruption_saves_after_the_running_step) {
  const Folder folder, whole;
  std::atomic<bool> interrupted = false;
  const auto line = line_of({.model_dir = folder.path(), .interrupted = &interrupted});
  Numbers steps;
  line.train(
      points_of_a_line(),
      {.max_steps = 50, .callbacks = {noting(steps, 7, [&](FitContext&) { interrupted = true; })}});
  BOOST_TEST(steps.back() == 7);
  BOOST_TEST(line.latest_step().value() == 7);
  interrupted = false;
  line.train(points_of_a_line(), {.max_steps = 50});
  const auto at_once = line_of({.model_dir = whole.path()});
  at_once.train(points_of_a_line(), {.max_steps = 50});
  BOOST_TEST(trained_hash(line) == trained_hash(at_once));
}

// Also where the last step was saved before.
BOOST_AUTO_TEST_CASE(the_last_checkpoint_has_the_weights_that_callbacks_set_at_the_end) {
  const auto to_zero = callback({.on_train_end = [](FitContext& training) {
    auto weights = training.model().weights();
    for (auto& [name, value] : weights) value = Tensor::zeros(value.dtype(), value.shape());
    training.model().set_weights(weights);
  }});
  for (const std::int64_t save_steps : {4, 100}) {
    const Folder folder;
    const auto line = line_of({.model_dir = folder.path(), .save_checkpoints_steps = save_steps});
    line.train(points_of_a_line(), {.steps = 4, .callbacks = {to_zero}});
    BOOST_TEST(line.latest_step().value() == 4);
    BOOST_TEST(line.variables().at("linear_model/bias").values<float>()[0] == 0.F);
    line.train(points_of_a_line(), {.steps = 4});
    BOOST_TEST(line.variables().at("linear_model/bias").values<float>()[0] != 0.F);
  }
}

BOOST_AUTO_TEST_CASE(a_callback_that_fails_ends_training_with_its_error) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  Numbers steps;
  const auto fail = [](FitContext&) { throw invalid_argument("a word"); };
  expect_refused(line, points_of_a_line(), {.steps = 9, .callbacks = {noting(steps, 3, fail)}},
                 {"a word"});
}

BOOST_AUTO_TEST_CASE(events_tell_the_loss_and_the_speed) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path(), .save_summary_steps = 5});
  line.train(points_of_a_line(), {.steps = 12});
  const auto losses = scalars(folder.path(), "loss");
  BOOST_TEST_REQUIRE(losses.size() == 3U);
  BOOST_TEST(losses[0].step == 1);
  BOOST_TEST(losses[1].step == 6);
  BOOST_TEST(losses[2].step == 11);
  BOOST_TEST(losses[2].value < losses[0].value);
  const auto speeds = scalars(folder.path(), "global_step/sec");
  BOOST_TEST_REQUIRE(speeds.size() == 2U);
  BOOST_TEST(speeds[0].step == 6);
  BOOST_TEST(speeds[0].value > 0);
}

// Also after a training whose checkpoint was lost: its row is replaced.
BOOST_AUTO_TEST_CASE(a_later_training_adds_a_row_to_the_log) {
  for (const Distribution& strategy : {Distribution(OneDevice{}), Distribution(Mirrored{2})}) {
    const Folder folder;
    const std::string log = folder.file("log.csv");
    const auto line = line_of({.model_dir = folder.file("model"), .strategy = strategy});
    const auto numbers = [&] {
      std::ifstream file(log);
      std::string row;
      std::getline(file, row);
      BOOST_TEST(row.starts_with("step,loss"));
      Numbers steps;
      while (std::getline(file, row)) steps.push_back(std::stol(row));
      return steps;
    };
    for (int time = 0; time < 3; ++time)
      line.train(points_of_a_line(), {.steps = 4, .callbacks = {csv_logger(log)}});
    BOOST_TEST(numbers() == (Numbers{4, 8, 12}), boost::test_tools::per_element());
    for (const auto& file : fs::directory_iterator(folder.file("model")))
      if (file.path().filename().string().starts_with("step-12")) fs::remove(file.path());
    line.train(points_of_a_line(), {.max_steps = 11, .callbacks = {csv_logger(log)}});
    BOOST_TEST(numbers() == (Numbers{4, 8, 11}), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_folder_in_which_nothing_can_be_saved_is_refused_before_anything_runs) {
  const Folder folder;
  write_file(folder.file("taken"), "a file");
  bool was_asked = false;
  const InputFn input = [&] {
    was_asked = true;
    return points_of_a_line()();
  };
  for (const std::string& dir : {folder.file("taken"), folder.file("taken") + "/within"})
    BOOST_CHECK_EXCEPTION(line_of({.model_dir = dir}).train(input, {.steps = 1}), Error,
                          says_all({dir, "is a file, not a folder"}));
  BOOST_TEST(!was_asked);
}

BOOST_AUTO_TEST_CASE(configurations_that_make_no_sense_are_refused) {
  const auto refused = [](RunConfig config, std::vector<std::string> words) {
    BOOST_CHECK_EXCEPTION(line_of(std::move(config)), Error, says_all(std::move(words)));
  };
  refused({}, {"model_dir is empty"});
  refused({.model_dir = "x", .save_checkpoints_steps = 10, .save_checkpoints_secs = 60},
          {"save_checkpoints_steps (10)", "save_checkpoints_secs (60)", "not both"});
  refused({.model_dir = "x", .save_checkpoints_steps = 0}, {"save_checkpoints_steps", "0"});
  refused({.model_dir = "x", .save_checkpoints_secs = 0}, {"save_checkpoints_secs", "0"});
  refused({.model_dir = "x", .keep_checkpoint_max = -1}, {"keep_checkpoint_max", "-1"});
  refused({.model_dir = "x", .save_summary_steps = -1}, {"save_summary_steps", "-1"});
}

BOOST_AUTO_TEST_CASE(a_model_dir_of_another_model_is_refused) {
  const Folder folder;
  line_of({.model_dir = folder.path()}).train(points_of_a_line(), {.steps = 1});
  expect_refused(DNNClassifier(flower_options({.model_dir = folder.path()})), training_flowers(),
                 {.steps = 1}, {"belongs to another model", folder.path()});
}

BOOST_AUTO_TEST_SUITE_END()
