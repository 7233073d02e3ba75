// Replicas that would learn something else than the first one are refused, by the name of what differs.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "actors/models/model.h"
#include "kernels/ops/learning_rate.h"
#include "test/models/support/toy_data.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(common_settings)

using namespace actorflow;
using namespace actorflow::test;

namespace {

TrainingData classes(const std::vector<std::int64_t>& labels) {
  return {points_of_a_line(8).first, Tensor::of<std::int64_t>({8}, labels)};
}

LearningRateSchedule decay(double rate) {
  return [rate](Output step) { return exponential_decay(0.1, step, 3, rate); };
}

// What a task trains, with 2 steps in its only epoch.
struct Task {
  std::vector<Layer> layers{dense(3)};
  CompileOptions compile{.loss = softmax_cross_entropy(),
                         .optimizer = Sgd{0.1},
                         .learning_rate = decay(0.5),
                         .metrics = {Metric{"share", accuracy().of_batch}}};
  FitOptions fit = quiet({.batch_size = 4});
  TrainingData data = classes({0, 1, 2, 0, 1, 2, 0, 1});
};

// What the second of two workers is told; "" if both train to the end.
std::string refusal_of(const Task& chief, const Task& other) {
  LocalCluster cluster({{"worker", 2}});
  const auto run = [&cluster](int number, const Task& task) {
    Model model = sequential(task.layers);
    model.compile(task.compile);
    FitOptions fit = task.fit;
    fit.strategy = MultiWorkerMirrored{cluster.server("worker", number)};
    model.fit(task.data, fit);
  };
  std::jthread first([&] { error_of([&] { run(0, chief); }); });
  std::string told = error_of([&] { run(1, other); });
  cluster.server("worker", 0).stop("the test is over");
  return told;
}

void expect_refused(const std::string& setting, const std::function<void(Task&)>& change) {
  Task other;
  change(other);
  const std::string told = refusal_of({}, other);
  BOOST_TEST(told.find("\n  " + setting + ": /job:worker/task:1 has ") != told.npos,
             setting << ": " << told);
  BOOST_TEST(std::ranges::count(told, '\n') == 1, told);
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_same_functions_made_twice_are_the_same) {
  BOOST_TEST(refusal_of({}, {}) == "");
}

BOOST_AUTO_TEST_CASE(functions_of_one_name_with_other_values_are_others) {
  expect_refused("loss and penalties",
                 [](Task& task) { task.compile.loss = softmax_cross_entropy(0.2); });
  expect_refused("loss and penalties", [](Task& task) { task.compile.loss_weights = {2}; });
  expect_refused("loss and penalties",
                 [](Task& task) { task.layers = {dense(3, {}, {.regularizer = l2(0.01)})}; });
  expect_refused("metrics", [](Task& task) {
    task.compile.metrics = {Metric{"share", top_k_accuracy(2).of_batch}};
  });
  expect_refused("layers", [](Task& task) { task.layers = {dense(3, tanh)}; });
  expect_refused("learning rate schedule", [](Task& task) { task.compile.learning_rate = decay(0.25); });
  expect_refused("learning rate schedule", [](Task& task) { task.compile.learning_rate = {}; });
}

BOOST_AUTO_TEST_CASE(another_order_precision_or_example_is_refused) {
  expect_refused("shuffle", [](Task& task) { task.fit.shuffle = false; });
  expect_refused("precision", [](Task& task) { task.compile.precision = Precision::bf16; });
  expect_refused("first and last example", [](Task& task) {
    task.data = classes({0, 1, 2, 0, 1, 2, 0, 2});
  });
  expect_refused("first and last example", [](Task& task) {
    task.data = classes({1, 1, 2, 0, 1, 2, 0, 1});
  });
}

BOOST_AUTO_TEST_SUITE_END()
