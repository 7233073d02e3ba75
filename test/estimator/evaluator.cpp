// train_and_evaluate(): in one process, and the evaluator beside a cluster.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <thread>

#include "actors/checkpoint/checkpoint.h"
#include "actors/estimator/train_and_evaluate.h"
#include "actors/models/fit/callbacks.h"
#include "actors/monitored/training_end.h"
#include "test/estimator/support/flowers.h"
#include "test/estimator/support/says_all.h"
#include "test/support/folder.h"
#include "test/support/hang_limit.h"

BOOST_AUTO_TEST_SUITE(evaluator)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Numbers = std::vector<std::int64_t>;

Numbers evaluated(const Folder& folder) {
  Numbers steps;
  for (const Scalar& loss : scalars(folder.file("eval"), "loss")) steps.push_back(loss.step);
  return steps;
}

bool is_exported(const Folder& folder) {
  return std::filesystem::exists(folder.file("export/model.onnx"));
}

RunConfig of_evaluator(const Folder& folder) {
  return {.model_dir = folder.path(), .is_evaluator = true};
}

std::optional<Logs> evaluate(const Folder& folder, std::int64_t max_steps) {
  return train_and_evaluate(line_of(of_evaluator(folder)),
                            {.input_fn = points_of_a_line(), .max_steps = max_steps},
                            {.input_fn = points_of_a_line()});
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_process_evaluates_each_checkpoint_once_and_exports_the_last) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path(), .save_checkpoints_steps = 4});
  const TrainSpec training{.input_fn = points_of_a_line(), .max_steps = 10};
  const auto logs = train_and_evaluate(line, training, {.input_fn = points_of_a_line()});
  BOOST_TEST(evaluated(folder) == (Numbers{0, 4, 8, 10}), boost::test_tools::per_element());
  BOOST_TEST(logs.value().at("global_step") == 10);
  BOOST_TEST(is_exported(folder));
}

BOOST_AUTO_TEST_CASE(replicas_in_one_process_are_evaluated_too) {
  const Folder folder;
  const auto line =
      line_of({.model_dir = folder.path(), .strategy = Mirrored{2}, .save_checkpoints_steps = 4});
  const auto logs = train_and_evaluate(line, {.input_fn = points_of_a_line(), .max_steps = 10},
                                       {.input_fn = points_of_a_line(), .name = "points"});
  BOOST_TEST(logs.value().at("global_step") == 10);
  const auto losses = scalars(folder.file("eval_points"), "loss");
  BOOST_TEST(losses.size() >= 3U);
  BOOST_TEST(is_exported(folder));
}

BOOST_AUTO_TEST_CASE(training_that_is_complete_is_evaluated_and_exported_all_the_same) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  line.train(points_of_a_line(), {.max_steps = 6});
  const auto logs =
      train_and_evaluate(line, {.input_fn = points_of_a_line(), .max_steps = 6},
                         {.input_fn = points_of_a_line(), .export_folder = folder.file("elsewhere")});
  BOOST_TEST(logs.value().at("global_step") == 6);
  BOOST_TEST(std::filesystem::exists(folder.file("elsewhere/model.onnx")));
}

BOOST_AUTO_TEST_CASE(an_interrupted_process_exports_nothing) {
  const Folder folder;
  std::atomic<bool> interrupted = false;
  const auto line = line_of({.model_dir = folder.path(), .interrupted = &interrupted});
  const auto interrupt = callback(
      {.on_batch_end = [&](FitContext&, std::int64_t step, const Logs&) { interrupted = step == 3; }});
  train_and_evaluate(line, {.input_fn = points_of_a_line(), .max_steps = 10, .callbacks = {interrupt}},
                     {.input_fn = points_of_a_line()});
  BOOST_TEST(line.latest_step().value() == 3);
  BOOST_TEST(!is_exported(folder));
}

// Each waits for the other: the evaluator for a checkpoint, the training for its evaluation.
BOOST_AUTO_TEST_CASE(an_evaluator_evaluates_what_others_save_and_ends_with_them) {
  const Folder folder;
  std::optional<Logs> logs;
  std::thread evaluator([&] { logs = evaluate(folder, 9); });
  const auto line = line_of({.model_dir = folder.path()});
  for (const std::int64_t step : {3, 6, 9}) {
    line.train(points_of_a_line(), {.max_steps = step});
    const auto limit = std::chrono::steady_clock::now() + hang_limit;
    while (evaluated(folder).empty() || evaluated(folder).back() < step) {
      BOOST_TEST_REQUIRE((std::chrono::steady_clock::now() < limit));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  evaluator.join();
  const Numbers steps = evaluated(folder);
  BOOST_TEST(std::ranges::is_sorted(steps, std::less_equal()));  // none twice
  BOOST_TEST(logs.value().at("global_step") == 9);
  BOOST_TEST(is_exported(folder));
}

BOOST_AUTO_TEST_CASE(an_evaluator_that_comes_back_repeats_nothing_but_the_export) {
  const Folder folder;
  line_of({.model_dir = folder.path()}).train(points_of_a_line(), {.max_steps = 5});
  evaluate(folder, 5);
  const Numbers once = evaluated(folder);
  BOOST_TEST(once == Numbers{5}, boost::test_tools::per_element());
  std::filesystem::remove_all(folder.file("export"));
  evaluate(folder, 5);
  BOOST_TEST(is_exported(folder));
  BOOST_TEST(evaluated(folder) == once, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(training_that_ended_before_max_steps_ends_the_evaluator_by_its_mark) {
  const Folder folder;
  line_of({.model_dir = folder.path()}).train(points_of_a_line(), {.max_steps = 5});
  mark_complete(posix_storage(), folder.path(), 50);
  BOOST_TEST(evaluate(folder, 50).value().at("global_step") == 5);
}

BOOST_AUTO_TEST_CASE(an_interrupted_evaluator_ends) {
  const Folder folder;
  std::atomic<bool> interrupted = false;
  RunConfig config = of_evaluator(folder);
  config.interrupted = &interrupted;
  std::thread evaluator([&] {
    train_and_evaluate(line_of(config), {.input_fn = points_of_a_line(), .max_steps = 5},
                       {.input_fn = points_of_a_line()});
  });
  interrupted = true;
  evaluator.join();
  BOOST_TEST(!is_exported(folder));
}

BOOST_AUTO_TEST_CASE(a_last_checkpoint_that_stays_damaged_is_an_error) {
  const Folder folder;
  line_of({.model_dir = folder.path()}).train(points_of_a_line(), {.max_steps = 5});
  for (const auto& file : std::filesystem::directory_iterator(folder.path()))
    if (file.path().extension() == ".safetensors") std::filesystem::resize_file(file.path(), 100);
  BOOST_CHECK_EXCEPTION(evaluate(folder, 5), Error,
                        says_all({"step 5", folder.path(), "cannot be read", "safetensors"}));
}

// As where the files of a test are gone: that is no failure of saving.
BOOST_AUTO_TEST_CASE(an_evaluation_that_fails_ends_training) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path(), .save_checkpoints_steps = 4});
  const auto saved = [&folder] { return std::filesystem::exists(folder.file("step-4.manifest")); };
  const InputFn gone = [saved] {
    NamedExamples input = points_of_a_line()();
    input.examples = input.examples.map([saved](const Tuple& example) {
      if (saved()) throw Error(Code::not_found, "the test is gone");
      return example;
    });
    return input;
  };
  BOOST_CHECK_EXCEPTION(
      train_and_evaluate(line, {.input_fn = points_of_a_line(), .max_steps = 10}, {.input_fn = gone}),
      Error, says("the test is gone"));
  BOOST_TEST(line.latest_step().value() == 4);
}

BOOST_AUTO_TEST_CASE(max_steps_are_needed) {
  const Folder folder;
  BOOST_CHECK_EXCEPTION(evaluate(folder, 0), Error, says_all({"max_steps of 1 or more", "0"}));
}

BOOST_AUTO_TEST_SUITE_END()
