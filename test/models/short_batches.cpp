// Short last batches, of which some replicas have fewer examples than others, or none.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "kernels/ops.h"
#include "test/models/support/toy_data.h"

BOOST_AUTO_TEST_SUITE(short_batches)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Make = Model (*)();

// The numbers from 1 on, whose labels are a tenth of them.
TrainingData counted(std::int64_t count) {
  std::vector<float> x, y;
  for (std::int64_t i = 1; i <= count; ++i) {
    x.push_back(static_cast<float>(i));
    y.push_back(static_cast<float>(i) / 10);
  }
  return {Tensor::of<float>({count, 1}, x), Tensor::of<float>({count, 1}, y)};
}

Model with(const Layer& layer) {
  Model model = sequential({layer, dense(2, tanh), dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.05}});
  return model;
}

// Makes infinity of zeros, and a gradient that is no number.
Model reciprocals() {
  return with({"reciprocal", [](LayerScope&, Output x) { return scalar_like(x, 1) / x; }});
}

Model penalised() {
  return with({"penalised", [](LayerScope& scope, Output x) {
                 const Output weighted = x * scope.weight("weight", {1}, ones());
                 scope.add_loss(mean(square(weighted)) * 0.125);
                 return weighted;
               }});
}

FitOptions two_epochs(Distribution strategy, std::int64_t batch_size) {
  return quiet({.epochs = 2, .batch_size = batch_size, .strategy = std::move(strategy)});
}

struct Learned {
  std::map<std::string, Tensor> weights;
  std::vector<double> losses;
};

Learned learn(Make make, std::int64_t examples, const FitOptions& options) {
  Model model = make();
  const History history = model.fit(counted(examples), options);
  return {model.weights(), history.of("loss")};
}

void expect_as_on_one_device(Make make, std::int64_t examples, FitOptions options) {
  const Learned ours = learn(make, examples, options);
  options.strategy = OneDevice{};
  options.gradient_accumulation_steps = 1;
  const Learned alone = learn(make, examples, options);
  for (std::size_t epoch = 0; epoch < alone.losses.size(); ++epoch)
    BOOST_TEST(std::abs(ours.losses.at(epoch) - alone.losses[epoch]) < 1e-5, "epoch " << epoch + 1);
  for (const auto& [name, value] : alone.weights)
    for (std::size_t i = 0; i < value.values<float>().size(); ++i)
      BOOST_TEST(std::abs(ours.weights.at(name).values<float>()[i] - value.values<float>()[i]) < 1e-5F,
                 name);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_replica_without_examples_computes_no_zeros) {
  expect_as_on_one_device(reciprocals, 13, two_epochs(Mirrored{4}, 4));
  FitOptions in_parts = two_epochs(Mirrored{4}, 8);
  in_parts.gradient_accumulation_steps = 2;
  expect_as_on_one_device(reciprocals, 9, in_parts);
  const Pipeline pipelines{{.stages = 2, .micro_batches = 2, .replicas = 2}};
  expect_as_on_one_device(reciprocals, 9, two_epochs(pipelines, 4));
}

// Its replicas have seen no other batch.
BOOST_AUTO_TEST_CASE(training_may_go_on_with_a_batch_of_which_replicas_have_nothing) {
  FitOptions options = two_epochs(Mirrored{4}, 4);
  options.epochs = 1;
  options.callbacks = {callback(
      {.on_train_begin = [](FitContext& training) { training.begin_at({.epoch = 1, .batches = 3}); }})};
  expect_as_on_one_device(reciprocals, 13, options);
}

BOOST_AUTO_TEST_CASE(losses_that_layers_add_count_by_examples) {
  expect_as_on_one_device(penalised, 7, two_epochs(Mirrored{2}, 4));
  expect_as_on_one_device(penalised, 7, two_epochs(Mirrored{3}, 6));
}

BOOST_AUTO_TEST_CASE(a_replica_without_examples_has_a_weight_of_the_class_too) {
  const auto learned_by = [](const Distribution& strategy) {
    Model model = sequential({dense(3)});
    model.compile({.loss = softmax_cross_entropy(), .optimizer = Sgd{0.05}});
    FitOptions options = two_epochs(strategy, 6);
    options.class_weight = {{0, 1}, {1, 3}, {2, 0.25}};
    const Tensor classes = Tensor::of<std::int64_t>({7}, {0, 1, 2, 0, 1, 2, 0});
    return model.fit({points_of_a_line(7).first, classes}, options).of("loss").back();
  };
  BOOST_TEST(std::abs(learned_by(Mirrored{3}) - learned_by(OneDevice{})) < 1e-5);
}

BOOST_AUTO_TEST_SUITE_END()
