// Layers of sequences beside Keras: the same weights and examples give the same histories and
// predictions. keras/sequences.py has made the numbers of Keras.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "actors/client/dataset_iterator.h"
#include "actors/models/model.h"
#include "test/models/support/keras_numbers.h"
#include "test/models/support/toy_data.h"

BOOST_AUTO_TEST_SUITE(keras_sequences)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const std::string data = ACTORFLOW_SOURCE_DIR "/apps/data/";
using Names = std::vector<std::string>;

// All examples of some kind.
struct Examples {
  Tensor x, y;
};

Tensor rows(const Tensor& all, std::int64_t first, std::int64_t count) {
  DatasetIterator part(Dataset::tensors({all}).skip(first).take(count).batch(count));
  return part.next()[0];
}

// The first 320 digits.
Tuple digits() {
  DatasetIterator all(
      Dataset::idx({data + "digits/train-images-idx3-ubyte", data + "digits/train-labels-idx1-ubyte"})
          .take(320)
          .batch(320));
  return all.next();
}

Tensor labels_of(const Tuple& all) {
  Tensor labels = Tensor::allocate(DType::int64, {320});
  for (std::size_t i = 0; i < 320; ++i)
    labels.mutable_values<std::int64_t>()[i] = all[1].values<std::uint8_t>()[i];
  return labels;
}

// The rows of images as steps. Where they are short, an image of digit d has 8 - d % 4; the others are
// 0.
Examples images(bool are_short = false) {
  const Tuple all = digits();
  const Tensor labels = labels_of(all);
  Tensor x = Tensor::allocate(DType::float32, {320, 8, 8});
  for (std::size_t i = 0; i < 320 * 64; ++i) {
    const auto row = static_cast<std::int64_t>(i / 8 % 8);
    const bool is_there = !are_short || row < 8 - labels.values<std::int64_t>()[i / 64] % 4;
    const float pixel = static_cast<float>(all[0].values<std::uint8_t>()[i]) / 256;
    x.mutable_values<float>()[i] = is_there ? pixel : 0;
  }
  return {x, labels};
}

// The pixels of two rows of images as ids from 0 to 15.
Examples ids() {
  const Tuple all = digits();
  Tensor x = Tensor::allocate(DType::int64, {320, 16});
  for (std::size_t i = 0; i < 320 * 16; ++i)
    x.mutable_values<std::int64_t>()[i] = all[0].values<std::uint8_t>()[i / 16 * 64 + 16 + i % 16] / 16;
  return {x, labels_of(all)};
}

void expect_same(const std::string& name, const Examples& all, const std::vector<Layer>& layers,
                 const Names& weights, double clip_global_norm = 0) {
  Shape example;
  for (int axis = 1; axis < all.x.shape().rank(); ++axis) example.push_back(all.x.shape()[axis]);
  Model model = sequential(input(example, all.x.dtype()), layers);
  model.compile({.loss = softmax_cross_entropy(),
                 .optimizer = Adam{.learning_rate = 0.01, .epsilon = 1e-7},
                 .clip_global_norm = clip_global_norm});
  begin_as_keras(model, weights);
  BOOST_TEST(model.weights().size() == weights.size());
  const TrainingData seen{rows(all.x, 0, 256), rows(all.y, 0, 256)},
      unseen{rows(all.x, 256, 64), rows(all.y, 256, 64)};
  const auto history = model.fit(
      seen, quiet({.epochs = 3, .batch_size = 60, .validation_data = unseen, .shuffle = false}));
  expect_same_history(history, name, "sequences.csv");
  const Tensor predictions = model.predict(rows(all.x, 256, 3));
  for (const KerasRow& row : rows_of_keras(name, "sequences.csv"))
    if (row.metric == "prediction")
      expect_near_keras(row, static_cast<double>(predictions.values<float>()[row.number]));
}

// "lstm" -> its three variables.
Names weights_of(const std::string& layer) {
  return {layer + "/weights", layer + "/recurrent_weights", layer + "/biases"};
}

Names joined(const std::vector<Names>& parts) {
  Names all;
  for (const Names& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

const Names dense_weights{"dense/weights", "dense/biases"};

}  // namespace

BOOST_AUTO_TEST_CASE(an_lstm_whose_gradients_are_clipped) {
  expect_same("lstm", images(), {lstm(6), dense(10)}, joined({weights_of("lstm"), dense_weights}), 0.5);
}

BOOST_AUTO_TEST_CASE(grus_one_on_the_other_and_backwards) {
  expect_same("gru", images(),
              {gru(6, {.return_sequences = true}), gru(5, {.go_backwards = true}), dense(10)},
              joined({weights_of("gru"), weights_of("gru_1"), dense_weights}));
}

BOOST_AUTO_TEST_CASE(simple_cells_whose_states_come_backwards) {
  expect_same("simple_rnn", images(),
              {simple_rnn(6, {.return_sequences = true, .go_backwards = true, .activation = relu}),
               simple_rnn(5, {.bias = false}), dense(10)},
              joined({weights_of("simple_rnn"),
                      {"simple_rnn_1/weights", "simple_rnn_1/recurrent_weights"},
                      dense_weights}));
}

BOOST_AUTO_TEST_CASE(both_directions) {
  expect_same(
      "bidirectional", images(),
      {bidirectional(lstm(4, {.return_sequences = true})), bidirectional(gru(3), add()), dense(10)},
      joined({weights_of("bidirectional/forward_lstm"), weights_of("bidirectional/backward_lstm"),
              weights_of("bidirectional_1/forward_gru"), weights_of("bidirectional_1/backward_gru"),
              dense_weights}));
}

BOOST_AUTO_TEST_CASE(masked_steps_have_no_loss) {
  Examples all = ids();
  all.y = Tensor::allocate(DType::int64, {320, 16});
  for (std::size_t i = 0; i < 320 * 16; ++i)
    all.y.mutable_values<std::int64_t>()[i] = all.x.values<std::int64_t>()[i / 16 * 16 + (i + 1) % 16];
  expect_same("masked_steps", all,
              {embedding(17, 5, {.mask_zero = true}), lstm(6, {.return_sequences = true}), dense(17)},
              joined({{"embedding/table"}, weights_of("lstm"), dense_weights}));
}

BOOST_AUTO_TEST_CASE(a_mean_leaves_out_masked_steps) {
  expect_same("masked_mean", ids(),
              {embedding(17, 5, {.mask_zero = true}), bidirectional(gru(3, {.return_sequences = true})),
               global_avg_pool(), dense(10)},
              joined({{"embedding/table"},
                      weights_of("bidirectional/forward_gru"),
                      weights_of("bidirectional/backward_gru"),
                      dense_weights}));
}

BOOST_AUTO_TEST_CASE(masks_go_on_through_layers) {
  expect_same("masking", images(true),
              {masking(), lstm(6, {.return_sequences = true}), dense(5, tanh),
               gru(4, {.go_backwards = true}), dense(10)},
              joined({weights_of("lstm"),
                      dense_weights,
                      weights_of("gru"),
                      {"dense_1/weights", "dense_1/biases"}}));
}

BOOST_AUTO_TEST_CASE(windows_over_series) {
  expect_same("conv1d", images(),
              {conv1d(6, 3, relu, {.padding = SeriesPadding::causal, .dilation = 2}),
               conv1d(5, 2, tanh, {.padding = SeriesPadding::same, .dilation = 3}),
               max_pool1d(2, {.strides = 1}),
               conv1d(4, 3, {}, {.strides = 2, .padding = SeriesPadding::same, .bias = false}),
               avg_pool1d(2, {.padding = Padding::same}), flatten(), dense(10)},
              {"conv1d/weights", "conv1d/biases", "conv1d_1/weights", "conv1d_1/biases",
               "conv1d_2/weights", "dense/weights", "dense/biases"});
}

BOOST_AUTO_TEST_CASE(a_layer_at_each_step_and_axes_in_other_orders) {
  Examples all = images();
  const Tensor x = all.x;
  all.x = Tensor::allocate(DType::float32, {320, 4, 8, 2});
  for (std::size_t i = 0; i < 320 * 64; ++i)  // [., 4, 2, 8] with the last two axes exchanged
    all.x.mutable_values<float>()[i] = x.values<float>()[i / 16 * 16 + i % 2 * 8 + i / 2 % 8];
  expect_same("shapes", all,
              {time_distributed(conv1d(2, 3)), time_distributed(flatten()), permute({2, 1}), lstm(4),
               repeat_vector(3), lstm(3), dense(10)},
              joined({{"time_distributed/conv1d/weights", "time_distributed/conv1d/biases"},
                      weights_of("lstm"),
                      weights_of("lstm_1"),
                      dense_weights}));
}

BOOST_AUTO_TEST_SUITE_END()
