// Tasks of the trainer that would learn something else than the chief are refused.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "actors/actorflow.h"
#include "apps/training/train_replica.h"
#include "kernels/ops/learning_rate.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(train_settings)

using namespace actorflow;
using namespace actorflow::test;

namespace {

LabelledData rows(const std::vector<float>& values, std::int64_t last_label = 0) {
  const auto count = std::ssize(values);
  Tensor labels = Tensor::zeros(DType::int64, {count});
  labels.mutable_values<std::int64_t>().back() = last_label;
  const Tuple part{Tensor::of<float>({count, 1}, values), labels};
  return labelled(
      {.noun = "rows",
       .types = {.example = {DType::float32, {1}}, .label = {}, .classes = 2, .alphabet = ""},
       .train = part,
       .test = part,
       .convert = {}});
}

struct Task {
  TrainOptions options{};
  LabelledData data = rows({1, 2, 3, 4});

  Task() {
    options.strategy = AllReduce{};
    options.train_steps = 2;
    options.batch_size = 2;
    options.learning_rate = [](Output step) { return exponential_decay(0.1, step, 3, 0.5); };
  }
};

// What the second of two workers is told; "" if both train to the end.
std::string refusal_of(const std::function<void(Task&)>& change) {
  static const std::atomic<bool> never{false};
  LocalCluster cluster({{"worker", 2}});
  const auto run = [&cluster](int number, const Task& task) {
    train_replica(cluster.server("worker", number), task.data, task.options, never, nullptr);
  };
  std::jthread chief([&run] { error_of([&run] { run(0, Task()); }); });
  Task other;
  change(other);
  std::string told = error_of([&] { run(1, other); });
  cluster.server("worker", 0).stop("the test is over");
  return told;
}

void expect_refused(const std::string& setting, const std::function<void(Task&)>& change) {
  const std::string told = refusal_of(change);
  BOOST_TEST(told.find("\n  " + setting + ": /job:worker/task:1 has ") != told.npos, told);
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_the_same_trains_together) {
  BOOST_TEST(refusal_of([](Task&) {}) == "");
}

BOOST_AUTO_TEST_CASE(another_loss_schedule_or_example_is_refused) {
  expect_refused("loss", [](Task& task) { task.options.loss = softmax_cross_entropy(0.2); });
  expect_refused("learning rate schedule", [](Task& task) {
    task.options.learning_rate = [](Output step) { return exponential_decay(0.1, step, 3, 0.25); };
  });
  expect_refused("first and last of the rows", [](Task& task) { task.data = rows({1, 2, 3, 5}); });
  expect_refused("first and last of the rows", [](Task& task) { task.data = rows({1, 2, 3, 4}, 1); });
}

BOOST_AUTO_TEST_SUITE_END()
