// Data of wrong types, shapes and values: what the errors say.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "actors/models/model.h"
#include "test/models/support/each_strategy.h"
#include "test/models/support/toy_data.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(wrong_data)

using namespace actorflow;
using namespace actorflow::test;

namespace {

Tensor some(DType dtype, const Shape& shape) { return Tensor::zeros(dtype, shape); }

// The error of training such a model.
std::string error_of(const std::vector<Layer>& layers, const Loss& loss, const Tensor& x,
                     const Tensor& y, const std::vector<Metric>& metrics = {}) {
  Model model = sequential(layers);
  model.compile({.loss = loss, .optimizer = Sgd{0.01}, .metrics = metrics});
  try {
    model.fit({x, y}, quiet({.batch_size = 2, .shuffle = false}));
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

void expect(const std::string& error, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    BOOST_TEST((error.find(part) != std::string::npos), part << " is not in: " << error);
}

const Tensor& two_numbers() {
  static const Tensor numbers = some(DType::float32, {4, 1});
  return numbers;
}

}  // namespace

BOOST_AUTO_TEST_CASE(inputs_that_a_layer_does_not_take_are_named_with_advice) {
  const Loss loss = mean_squared_error();
  expect(error_of({embedding(5, 2), flatten(), dense(1)}, loss, some(DType::float32, {4, 3}),
                  two_numbers()),
         {"embedding", "ids of int32 or int64", "float32[?,3]", "int64", "discretization()"});
  expect(error_of({embedding(5, 2)}, loss, some(DType::string, {4, 3}), two_numbers()),
         {"string[?,3]", "TextVectorization"});
  expect(error_of({dense(1)}, loss, some(DType::float32, {4}), two_numbers()),
         {"dense", "2 or more dimensions", "float32[?]", "reshape({1})"});
  expect(error_of({dense(1)}, loss, some(DType::float64, {4, 3}), two_numbers()),
         {"expected float32, got float64[?,3]", "rescaling(1)"});
  expect(error_of({dense(1)}, loss, some(DType::string, {4, 3}), two_numbers()),
         {"expected float32, got string[?,3]", "StringLookup"});
  expect(
      error_of({conv2d(4, 3)}, loss, some(DType::float32, {4, 28, 28}), two_numbers()),
      {"conv2d", "[batch, height, width, channels]", "float32[?,28,28]", "reshape({height, width, 1})"});
  expect(error_of({conv2d(4, 5)}, loss, some(DType::float32, {4, 3, 32, 32}), two_numbers()),
         {"window of 5 x 5 does not fit", "float32[?,3,32,32]", "the channels come first"});
  expect(error_of({max_pool(4)}, loss, some(DType::float32, {4, 3, 32, 32}), two_numbers()),
         {"window of 4 x 4 does not fit", "the channels come first"});
}

BOOST_AUTO_TEST_CASE(examples_that_are_single_numbers_are_reshaped) {
  BOOST_TEST(error_of({reshape({1}), dense(1)}, mean_squared_error(), some(DType::float32, {4}),
                      some(DType::float32, {4})) == "none");
}

BOOST_AUTO_TEST_CASE(labels_that_a_loss_does_not_take_are_named_with_advice) {
  const Tensor x = some(DType::float32, {4, 2});
  const std::vector<Layer> classes{dense(3)}, sure{dense(3, softmax)};
  expect(error_of(classes, softmax_cross_entropy(), x, Tensor::of<std::int64_t>({4}, {0, 3, 1, 2})),
         {"labels from 0 to 2 for 3 classes", "label 3 in row 1"});
  expect(error_of(sure, sparse_categorical_cross_entropy(), x,
                  Tensor::of<std::int64_t>({4}, {0, 1, -1, 2})),
         {"labels from 0 to 2 for 3 classes", "label -1 in row 0"});
  expect(error_of(classes, softmax_cross_entropy(), x, some(DType::float32, {4, 3})),
         {"class numbers", "float32[?,3]", "soft_label_cross_entropy()", "categorical_accuracy()"});
  expect(error_of({conv2d(2, 2), dense(3)}, softmax_cross_entropy(), some(DType::float32, {4, 8, 8, 1}),
                  some(DType::int64, {4})),
         {"float32[?,7,7,3]", "global_avg_pool()"});
  expect(error_of(classes, softmax_cross_entropy(), x, some(DType::float32, {4})),
         {"class numbers", "float32[?]", "int64", "StringLookup"});
  expect(error_of(classes, soft_label_cross_entropy(), x, some(DType::int64, {4})),
         {"predicts float32[?,3]", "labels are int64[?]", "softmax_cross_entropy()"});
  expect(error_of(classes, mean_squared_error(), x, some(DType::float32, {4, 2})),
         {"predicts float32[?,3]", "labels are float32[?,2]", "as many units"});
  expect(error_of({dense(1)}, sigmoid_cross_entropy(), x, some(DType::string, {4, 1})),
         {"labels that are numbers", "string[?,1]", "StringLookup"});
  expect(error_of(sure, softmax_cross_entropy(), x, some(DType::int64, {4})),
         {"what softmax has made of them", "sparse_categorical_cross_entropy()"});
  expect(error_of(sure, soft_label_cross_entropy(), x, some(DType::float32, {4, 3})),
         {"what softmax has made of them", "take categorical_cross_entropy()"});
  expect(error_of({dense(1, sigmoid)}, sigmoid_cross_entropy(), x, some(DType::float32, {4, 1})),
         {"what sigmoid has made of them", "binary_cross_entropy()"});
  expect(error_of({dense(1)}, softmax_cross_entropy(), x, some(DType::int64, {4})),
         {"two classes or more", "float32[?,1]", "sigmoid_cross_entropy()"});
  expect(error_of({dense(1, sigmoid)}, binary_cross_entropy(), x, some(DType::int64, {4}), {accuracy()}),
         {"two classes or more", "binary_accuracy()"});
  expect(error_of({dense(1, sigmoid)}, sparse_categorical_cross_entropy(), x, some(DType::int64, {4})),
         {"two classes or more", "binary_cross_entropy()"});
}

// Those of MNIST's files, for example.
BOOST_AUTO_TEST_CASE(class_numbers_may_be_small_integers) {
  const Tensor x = some(DType::float32, {4, 2});
  for (const DType dtype : {DType::uint8, DType::int8, DType::int16, DType::int32})
    BOOST_TEST(error_of({dense(3)}, softmax_cross_entropy(), x, some(dtype, {4}), {accuracy()}) ==
               "none");
}

// Of 3 batches of 4 examples one has a NaN; where several train, also in the part of another replica.
BOOST_AUTO_TEST_CASE(data_that_are_not_finite_are_to_blame) {
  std::vector<float> x(24, 0.5F), y(12, 1);
  x[13] = NAN;  // place 1 of example 6: of batch 2 example 2
  x[15] = INFINITY;
  const Tensor inputs = Tensor::of<float>({12, 2}, x), labels = Tensor::of<float>({12, 1}, y);
  FitOptions options = quiet({.epochs = 2, .batch_size = 4, .shuffle = false});
  const auto fresh = [](const Model&) {
    Model model = sequential(input({2}), {dense(2), dense(1)});
    model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.01}});
    return model;
  };
  for (const auto& [name, fit] : each_strategy(fresh)) {
    if (name != "one device" && name != "mirrored" && name.find("pipeline") != 0) continue;
    Model model = fresh(sequential({flatten()}));
    BOOST_CHECK_EXCEPTION(
        fit(model, {inputs, labels}, options), Error,
        says("the data are not finite: in batch 2 of epoch 1, input 0 of example 2, at place 1, is nan, "
             "and 1 more values"));
  }
  y[9] = INFINITY;
  x[13] = x[15] = 0;
  Model model = fresh(sequential({flatten()}));
  BOOST_CHECK_EXCEPTION(
      model.fit({Tensor::of<float>({12, 2}, x), Tensor::of<float>({12, 1}, y)}, options), Error,
      says("in batch 3 of epoch 1, label 0 of example 1, is inf"));
}

BOOST_AUTO_TEST_CASE(a_batch_that_is_not_finite_is_named) {
  Model model = sequential({dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.01}});
  const Tensor x = Tensor::of<float>({2, 2}, {0, 0, 0, INFINITY}), y = some(DType::float32, {2});
  BOOST_CHECK_EXCEPTION(model.train_on_batch({x, y}), Error,
                        says("in this batch, input 0 of example 1, at place 1, is inf"));
}

BOOST_AUTO_TEST_CASE(an_axis_too_much_or_too_few_is_explained) {
  Model model = sequential(input({3}), {dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.01}});
  const Dataset rows = Dataset::tensors({some(DType::float32, {4, 3}), some(DType::float32, {4})});
  BOOST_CHECK_EXCEPTION(model.fit(rows.batch(2), quiet({.batch_size = 2})), Error,
                        says("takes float32[3] for each example, got float32[2,3]; batches are made of "
                             "examples: leave out Dataset::batch()"));
  BOOST_CHECK_EXCEPTION(model.predict(some(DType::float32, {3})), Error,
                        says("a single one needs a first axis of 1"));
}

BOOST_AUTO_TEST_CASE(training_that_diverges_on_finite_data_is_told_so) {
  Model model = sequential({dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{1e20}});
  const auto [x, y] = points_of_a_line(12);
  BOOST_CHECK_EXCEPTION(model.fit({x, y}, quiet({.epochs = 9, .batch_size = 12})), Error,
                        [](const Error& e) {
                          return e.code() == Code::not_finite && says("of epoch")(e) &&
                                 says("are finite: ")(e) && says("lower the learning rate")(e);
                        });
}

BOOST_AUTO_TEST_SUITE_END()
