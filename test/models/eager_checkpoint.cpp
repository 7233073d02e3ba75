// Checkpoints of training loops: they go on with the same bits, and weights go to models and back.
#include "actors/eager/eager_checkpoint.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "actors/eager/eager_model.h"
#include "actors/layers/layers.h"
#include "actors/models/model.h"
#include "kernels/ops.h"
#include "test/kernels/support/random_values.h"
#include "test/support/folder.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(eager_checkpoint)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const TensorType type{DType::float32, {-1, 3}};

// A training loop in two programs: the second one goes on where the first has ended.
struct Loop {
  explicit Loop(std::uint64_t seed) : model({dense(4, tanh), dense(1)}, seed) { model.build({type}); }

  EagerState state() { return {model.variables(), {optimizer}}; }
  void train(std::int64_t from, std::int64_t to) {
    for (std::int64_t step = from; step < to; ++step) {
      GradientTape tape;
      const Output x = tape.constant(random_values({8, 3}, static_cast<unsigned>(step)));
      optimizer.apply(tape.gradients(mean(square(model(x) - 1.0F)), model.trained()), model.trained());
    }
  }
  std::vector<Tensor> values() {
    std::vector<Tensor> values;
    for (const EagerVariable& variable : model.variables()) values.push_back(variable.read());
    return values;
  }

  EagerModel model;
  EagerOptimizer optimizer{Adam{0.01}};
};

void check_same(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  BOOST_TEST_REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) BOOST_TEST(identical(actual[i], expected[i]));
}

}  // namespace

BOOST_AUTO_TEST_CASE(training_goes_on_with_the_same_bits) {
  const Folder folder;
  Loop whole(1), first(1), second(2);
  whole.train(0, 6);
  BOOST_TEST(!restore_eager(posix_storage(), folder.path(), first.state()).has_value());
  first.train(0, 4);
  save_eager(posix_storage(), folder.path(), first.state(), 4);
  const auto step = restore_eager(posix_storage(), folder.path(), second.state());
  BOOST_TEST_REQUIRE(step.has_value());
  BOOST_TEST(*step == 4);
  second.train(*step, 6);
  check_same(second.values(), whole.values());
}

BOOST_AUTO_TEST_CASE(a_damaged_checkpoint_is_passed_over) {
  const Folder folder;
  Loop first(1), second(2);
  first.train(0, 2);
  save_eager(posix_storage(), folder.path(), first.state(), 2);
  const std::string newest = save_eager(posix_storage(), folder.path(), first.state(), 4);
  const std::string file = read_manifest(posix_storage(), newest).files.at(0).name;
  std::filesystem::resize_file(folder.file(file), std::filesystem::file_size(folder.file(file)) - 1);
  BOOST_TEST(restore_eager(posix_storage(), folder.path(), second.state()).value() == 2);
}

BOOST_AUTO_TEST_CASE(a_checkpoint_of_other_variables_changes_nothing) {
  const Folder folder;
  Loop loop(1);
  save_eager(posix_storage(), folder.path(), {loop.model.variables()}, 1);
  const EagerVariable kept = loop.model.variables()[0], missing("missing", Tensor{1.0F}),
                      other("dense/biases", Tensor{1.0F});
  kept.assign(Tensor::zeros(DType::float32, {3, 4}));
  const Status status = status_of([&] {
    restore_eager(posix_storage(), folder.path(), {{kept, missing, other}});
  });
  BOOST_TEST((status.code == Code::failed_precondition), status.to_string());
  BOOST_TEST(status.message.find("'missing' is missing") != std::string::npos, status.message);
  BOOST_TEST(
      status.message.find("'dense/biases' is float32[4], expected float32[1]") != std::string::npos,
      status.message);
  BOOST_TEST(identical(kept.read(), Tensor::zeros(DType::float32, {3, 4})));
}

// As of a generator and a critic: each optimizer has the slots of its own variables.
BOOST_AUTO_TEST_CASE(two_optimizers_of_one_kind_are_told_apart) {
  const Folder folder;
  EagerModel model({dense(1)});
  model.build({type});
  EagerModel other = model.clone("other");
  EagerOptimizer first(Adam{0.1}), second(Adam{0.1});
  EagerState state{model.variables(), {first, second}};
  for (const EagerVariable& variable : other.variables()) state.variables.push_back(variable);
  const auto train = [](EagerModel& of, EagerOptimizer& optimizer) {
    GradientTape tape;
    const Output loss = mean(square(of(tape.constant(random_values({8, 3}, 1)))));
    optimizer.apply(tape.gradients(loss, of.trained()), of.trained());
  };
  train(model, first);
  train(other, second);
  save_eager(posix_storage(), folder.path(), state, 1);
  const auto slots = second.slots(other.variables()[0]);
  train(other, second);
  BOOST_TEST(restore_eager(posix_storage(), folder.path(), state).has_value());
  BOOST_TEST(identical(second.slots(other.variables()[0])[0], slots[0]));
  BOOST_TEST(second.slots(model.variables()[0]).empty());
  BOOST_TEST(first.slots(other.variables()[0]).empty());
  save_eager(posix_storage(), folder.path(), state, 2);
}

// Its state may be what has to be forgotten, such as a NaN.
BOOST_AUTO_TEST_CASE(an_optimizer_forgets_what_came_after_the_checkpoint) {
  const Folder folder;
  Loop loop(1);
  save_eager(posix_storage(), folder.path(), loop.state(), 0);
  loop.train(0, 2);
  BOOST_TEST(restore_eager(posix_storage(), folder.path(), loop.state()).has_value());
  BOOST_TEST(loop.optimizer.slots(loop.model.variables()[0]).empty());
  EagerOptimizer sgd(Momentum{0.1});
  loop.train(0, 1);
  save_eager(posix_storage(), folder.path(), loop.state(), 1);
  BOOST_TEST((status_of([&] {
                restore_eager(posix_storage(), folder.path(),
                              {{EagerVariable("dense/weights", Tensor{1.0F})}, {sgd}});
              }).code == Code::failed_precondition));
}

BOOST_AUTO_TEST_CASE(a_model_without_variables_is_refused) {
  const Folder folder;
  const EagerModel model({dense(1)});
  BOOST_TEST((status_of([&] {
                save_eager(posix_storage(), folder.path(), {model.variables()}, 1);
              }).code == Code::invalid_argument));
  BOOST_TEST((status_of([&] {
                restore_eager(posix_storage(), folder.path(), {model.variables()});
              }).code == Code::invalid_argument));
}

BOOST_AUTO_TEST_CASE(two_variables_of_one_name_are_refused) {
  const Folder folder;
  const EagerVariable a("w", Tensor{1.0F}), b("w", Tensor{2.0F});
  BOOST_TEST((status_of([&] {
                save_eager(posix_storage(), folder.path(), {{a, b}}, 1);
              }).code == Code::already_exists));
}

BOOST_AUTO_TEST_CASE(weights_go_to_a_model_and_back) {
  const Folder eager, saved;
  Loop loop(1);
  loop.train(0, 3);
  save_eager(posix_storage(), eager.path(), loop.state(), 3);
  Model model = sequential({dense(4, tanh), dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.01}});
  model.build({{DType::float32, {3}}});
  model.load_weights(eager.path());
  for (const EagerVariable& variable : loop.model.variables())
    BOOST_TEST(identical(model.weights().at(variable.name()), variable.read()));
  model.save_weights(saved.path());
  Loop other(2);
  BOOST_TEST(restore_eager(posix_storage(), saved.path(), other.state()).has_value());
  check_same(other.values(), loop.values());
}

BOOST_AUTO_TEST_SUITE_END()
