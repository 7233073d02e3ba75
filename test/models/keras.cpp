// fit() beside Keras: the same weights and examples give the same histories. keras/histories.py has made
// the numbers of Keras.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "actors/client/dataset_iterator.h"
#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "test/models/support/keras_numbers.h"
#include "test/models/support/toy_data.h"

BOOST_AUTO_TEST_SUITE(keras)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const std::string data = ACTORFLOW_SOURCE_DIR "/apps/data/";

Dataset flowers() {
  return Dataset::csv({data + "iris.csv"}, {.components = {{DType::float32, 0, 4}, {DType::int64, 4}}});
}

// The same as tensors, and a weight for each: 0.5, 1, 1.5, 2, 0.5, ...
struct Flowers {
  Tensor x, y, weights;
};

Flowers flowers_in_memory() {
  DatasetIterator iterator(flowers().batch(150));
  const Tuple rows = iterator.next();
  std::vector<float> weights;
  for (int i = 0; i < 150; ++i) weights.push_back(0.5F + 0.5F * static_cast<float>(i % 4));
  return {rows[0], rows[1], Tensor::of<float>({150}, weights)};
}

Model perceptron(bool sample_weights = false) {
  Model model = sequential(input({4}), {dense(10, tanh), dense(3)});
  model.compile({.loss = softmax_cross_entropy(),
                 .optimizer = Adam{.learning_rate = 0.01, .epsilon = 1e-7},
                 .metrics = {accuracy()},
                 .sample_weights = sample_weights});
  begin_as_keras(model, {"dense/weights", "dense/biases", "dense_1/weights", "dense_1/biases"});
  return model;
}

void expect_same(const History& history, const std::string& model) {
  expect_same_history(history, model, "histories.csv");
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_perceptron_learns_iris_as_in_keras) {
  expect_same(perceptron().fit(flowers(), quiet({.epochs = 3, .batch_size = 32})), "mlp");
}

BOOST_AUTO_TEST_CASE(weights_of_classes_and_examples_count_as_in_keras) {
  const auto [x, y, weights] = flowers_in_memory();
  expect_same(perceptron().fit({x, y}, quiet({.epochs = 3,
                                              .validation_data = TrainingData{x, y},
                                              .class_weight = {{0, 1}, {1, 2.5}, {2, 0.5}},
                                              .shuffle = false})),
              "class_weight");
  expect_same(perceptron(true).fit({x, y, weights}, quiet({.epochs = 3, .shuffle = false})),
              "sample_weight");
}

BOOST_AUTO_TEST_CASE(validation_is_at_the_epochs_of_keras_and_of_the_same_batches) {
  const auto [x, y, weights] = flowers_in_memory();
  expect_same(perceptron().fit({x, y}, quiet({.epochs = 4,
                                              .validation_data = TrainingData{x, y},
                                              .validation_batch_size = 20,
                                              .validation_steps = 3,
                                              .validation_freq = 2,
                                              .shuffle = false})),
              "validation_freq");
  expect_same(
      perceptron().fit(
          {x, y},
          quiet({.epochs = 4, .validation_split = 0.2, .validation_freq = {1, 4}, .shuffle = false})),
      "validation_epochs");
}

BOOST_AUTO_TEST_CASE(frozen_layers_stay_as_in_keras) {
  Model model = sequential(input({4}), {dense(10, tanh), batch_norm(), dense(3)});
  model.get_layer("dense").set_trainable(false);
  model.get_layer("batch_norm").set_trainable(false);
  model.compile(
      {.loss = softmax_cross_entropy(), .optimizer = Momentum{0.05, 0.9}, .metrics = {accuracy()}});
  begin_as_keras(model, {"dense/weights", "dense/biases", "batch_norm/scale", "batch_norm/offset",
                         "batch_norm/moving_mean", "batch_norm/moving_variance", "dense_1/weights",
                         "dense_1/biases"});
  const auto tens = [](float value) { return Tensor::of<float>({10}, std::vector<float>(10, value)); };
  model.get_layer("batch_norm")
      .set_weights({{"scale", tens(1.5F)},
                    {"offset", tens(0.1F)},
                    {"moving_mean", tens(0.2F)},
                    {"moving_variance", tens(0.5F)}});
  expect_same(model.fit(flowers(), quiet({.epochs = 3, .batch_size = 32})), "frozen");
}

// keras/early_stopping.py has made the rows.
BOOST_AUTO_TEST_CASE(early_stopping_stops_where_keras_does) {
  std::ifstream file(ACTORFLOW_SOURCE_DIR "/test/models/keras/early_stopping.csv");
  int rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    std::istringstream stream(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    EarlyStoppingOptions options{.patience = std::stoi(fields.at(0)),
                                 .min_delta = std::stod(fields.at(1)),
                                 .restore_best_weights = true,
                                 .start_from_epoch = std::stoi(fields.at(2))};
    if (!fields.at(3).empty()) options.baseline = std::stod(fields[3]);
    const auto values = callback({.on_epoch_end = [&](FitContext&, int epoch, Logs& logs) {
      logs.set("val_loss", std::stod(fields.at(static_cast<std::size_t>(epoch) + 5)));
    }});
    Model model = sequential(input({1}), {constant_layer(0)});
    model.compile({.loss = {{"value", [](Output p, Output) { return p; }}}, .optimizer = Sgd{1}});
    const Tensor one = Tensor::zeros(DType::float32, {1, 1});
    const auto history = model.fit(
        {one, one},
        quiet({.epochs = 12, .batch_size = 1, .callbacks = {values, early_stopping(options)}}));
    BOOST_TEST(history.epochs.back() == std::stoi(fields.at(4)), line);
    BOOST_TEST(-model.weights().at("constant/value").values<float>()[0] == std::stof(fields.at(5)),
               line);
  }
  BOOST_TEST(rows == 200);
}

BOOST_AUTO_TEST_CASE(a_convolutional_net_learns_digits_as_in_keras) {
  const auto digits = [](std::int64_t first, std::int64_t count) {
    return Dataset::idx(
               {data + "digits/train-images-idx3-ubyte", data + "digits/train-labels-idx1-ubyte"})
        .skip(first)
        .take(count)
        .map([](Tuple example) {
          Tensor image = Tensor::allocate(DType::float32, {8, 8, 1});
          for (std::size_t i = 0; i < 64; ++i)
            image.mutable_values<float>()[i] =
                static_cast<float>(example[0].values<std::uint8_t>()[i]) / 16;
          return Tuple{image, Tensor::scalar(std::int64_t{example[1].scalar<std::uint8_t>()})};
        });
  };
  Model model =
      sequential(input({8, 8, 1}), {conv2d(4, 3, relu), max_pool(),
                                    conv2d(8, 3, relu, {.strides = 2, .padding = Padding::same}),
                                    layer_norm(), flatten(), dense(10, {}, {.regularizer = l2(0.01)})});
  model.compile(
      {.loss = softmax_cross_entropy(), .optimizer = Momentum{0.05, 0.9}, .metrics = {accuracy()}});
  begin_as_keras(model, {"conv2d/weights", "conv2d/biases", "conv2d_1/weights", "conv2d_1/biases",
                         "layer_norm/scale", "layer_norm/offset", "dense/weights", "dense/biases"});
  const auto history = model.fit(
      digits(0, 256), quiet({.epochs = 3, .batch_size = 60, .validation_data = digits(256, 64)}));
  expect_same(history, "cnn");
}

BOOST_AUTO_TEST_SUITE_END()
