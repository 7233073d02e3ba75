// Options of fit(): weights of classes, and when and on what it validates.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "test/models/support/each_strategy.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(fit_options)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// Scores of two classes that no step changes: the loss is log 2 for each example.
Model undecided() {
  Model model = sequential(input({2}), {constant_layer(0)});
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Sgd{0}});
  return model;
}

TrainingData of_classes(const std::vector<std::int64_t>& classes) {
  const auto count = std::ssize(classes);
  return {Tensor::zeros(DType::float32, {count, 2}), Tensor::of<std::int64_t>({count}, classes)};
}

double loss_of(const TrainingData& data, const FitOptions& options, Model model = undecided()) {
  return model.fit(data, options).of("loss").at(0);
}

void expect_refused(const FitOptions& options, const char* words, const TrainingData& data,
                    Model model = undecided()) {
  BOOST_CHECK_EXCEPTION(model.fit(data, options), Error, says(words));
}

// Learns three classes of points on a line.
Model classifier(const Model& = undecided()) {
  Model model = sequential({dense(6, tanh), dense(3)});
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.05}, .metrics = {accuracy()}});
  return model;
}

TrainingData three_classes() {
  const auto [x, y] = points_of_a_line(18);
  std::vector<std::int64_t> classes;
  for (int i = 0; i < 18; ++i) classes.push_back(i % 4 == 3 ? 1 : i / 6);
  return {x, Tensor::of<std::int64_t>({18}, classes)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(weighted_losses_are_divided_by_the_number_of_examples) {
  const TrainingData data = of_classes({0, 0, 1});
  const FitOptions weighted = quiet({.batch_size = 3, .class_weight = {{0, 0.5}, {1, 4}}});
  BOOST_TEST(loss_of(data, weighted) == std::log(2.0) * (0.5 + 0.5 + 4) / 3,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(loss_of(data, quiet({.batch_size = 3})) == std::log(2.0),
             boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(the_class_of_a_label_with_a_number_for_each_is_the_largest) {
  Model model = sequential(input({2}), {constant_layer(0)});
  model.compile({.loss = soft_label_cross_entropy(), .optimizer = Sgd{0}});
  const TrainingData data{Tensor::zeros(DType::float32, {2, 2}),
                          Tensor::of<float>({2, 2}, {1, 0, 0.25F, 0.75F})};
  BOOST_TEST(loss_of(data, quiet({.batch_size = 2, .class_weight = {{0, 1}, {1, 3}}}),
                     std::move(model)) == std::log(2.0) * 2,
             boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(a_later_fit_without_weights_has_none) {
  Model model = undecided();
  const TrainingData data = of_classes({0, 1});
  model.fit(data, quiet({.batch_size = 2, .class_weight = {{0, 2}, {1, 2}}}));
  BOOST_TEST(model.fit(data, quiet({.batch_size = 2})).of("loss").at(0) == std::log(2.0),
             boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(weights_of_classes_count_alike_under_each_strategy) {
  const FitOptions options = quiet({.epochs = 3,
                                    .batch_size = 4,
                                    .validation_data = three_classes(),
                                    .validation_freq = {1, 3},
                                    .class_weight = {{0, 1}, {1, 3}, {2, 0.25}}});
  FitOptions unweighted = options;
  unweighted.class_weight = {};
  Model alone = classifier(), plain = classifier();
  alone.fit(three_classes(), options);
  plain.fit(three_classes(), unweighted);
  BOOST_TEST(!same(alone.weights(), plain.weights()));
  for (const auto& [name, fit] : each_strategy(classifier)) {
    Model model = classifier();
    std::vector<int> validated;
    FitOptions noted = options;
    noted.callbacks = {callback({.on_epoch_end = [&](FitContext&, int epoch, Logs& logs) {
      if (logs.find("val_loss")) validated.push_back(epoch);
    }})};
    fit(model, three_classes(), noted);
    BOOST_TEST(validated == (std::vector<int>{1, 3}), name);
    const auto weights = model.weights();
    for (const auto& [variable, value] : alone.weights())
      for (std::size_t i = 0; i < value.values<float>().size(); ++i)
        BOOST_TEST(std::abs(weights.at(variable).values<float>()[i] - value.values<float>()[i]) < 1e-5F,
                   name << ": " << variable);
  }
}

BOOST_AUTO_TEST_CASE(weights_of_classes_that_make_no_sense_are_refused) {
  const TrainingData data = of_classes({0, 1, 5});
  const FitOptions two = quiet({.batch_size = 1, .class_weight = {{0, 1}, {1, 2}}});
  expect_refused(two, "an example is of class 5, but class_weight is of the classes 0: 1, 1: 2", data);
  FitOptions mirrored = two;
  mirrored.batch_size = 2;
  mirrored.strategy = Mirrored{2};
  expect_refused(mirrored, "an example is of class 5", data);
  expect_refused(quiet({.batch_size = 1, .class_weight = {{0, -1}}}), "that of class 0 is -1", data);
  expect_refused(quiet({.batch_size = 1, .class_weight = {{1, std::nan("")}}}), "that of class 1 is nan",
                 data);
  const Tensor x = Tensor::zeros(DType::float32, {2, 2});
  expect_refused(two, "needs labels that are class numbers",
                 {x, Tensor::zeros(DType::float32, {2, 1, 2})}, [] {
                   Model model = sequential(input({2}), {constant_layer(0), reshape({1, 2})});
                   model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0}});
                   return model;
                 }());
  Model weighted = sequential(input({2}), {constant_layer(0)});
  weighted.compile({.loss = softmax_cross_entropy(), .sample_weights = true});
  expect_refused(two, "class_weight and CompileOptions::sample_weights both", data, std::move(weighted));
  const SymbolicTensor a = input({1});
  Model twice({a}, {dense(1)(a), dense(1)(a)});
  twice.compile({.loss = {mean_squared_error(), mean_squared_error()}});
  expect_refused(two, "for a model of one output, which has 2", {{x}, {x, x}}, std::move(twice));
}

BOOST_AUTO_TEST_CASE(weights_of_examples_come_with_tensors) {
  Model model = sequential({constant_layer(0)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0}, .sample_weights = true});
  const Tensor x = Tensor::zeros(DType::float32, {4, 1}), y = Tensor::of<float>({4, 1}, {1, 3, 1, 1});
  const Tensor weights = Tensor::of<float>({4}, {0.5F, 2, 3, 5});
  const auto history = model.fit({x, y, weights}, quiet({.batch_size = 2, .validation_split = 0.5}));
  BOOST_TEST(history.of("loss")[0] == (0.5 + 18) / 2, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(history.of("val_loss")[0] == 4.0, boost::test_tools::tolerance(1e-6));
  BOOST_CHECK_EXCEPTION(model.fit({x, y, Tensor::zeros(DType::float32, {4, 1})}), Error,
                        says("is float32[], got float32[1]"));
  BOOST_CHECK_THROW((TrainingData{x, y, Tensor::zeros(DType::float32, {3})}), Error);
}

BOOST_AUTO_TEST_CASE(validation_takes_its_first_batches) {
  Model model = sequential({constant_layer(0)});
  model.compile({.loss = mean_absolute_error(), .optimizer = Sgd{0}});
  const Tensor x = Tensor::zeros(DType::float32, {5, 1});
  const Tensor y = Tensor::of<float>({5, 1}, {1, 1, 4, 6, 20});
  const auto validated = [&](const TrainingData& data, std::int64_t batch, std::int64_t steps) {
    return model
        .fit({x, y}, quiet({.epochs = 2,
                            .batch_size = 5,
                            .validation_data = data,
                            .validation_batch_size = batch,
                            .validation_steps = steps}))
        .of("val_loss");
  };
  const Dataset endless = Dataset::tensors({x, y}).repeat();
  for (const TrainingData& data : {TrainingData(x, y), TrainingData(endless)})
    BOOST_TEST(validated(data, 2, 2) == (std::vector<double>{3, 3}), boost::test_tools::per_element());
  BOOST_TEST(validated({x, y}, 2, 100).at(1) == 6.4, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(validated({x, y}, 100, 0).at(1) == 6.4, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(epochs_without_validation_stop_nothing_and_have_a_column) {
  const Folder folder;
  Model model = sequential({constant_layer(0)});
  model.compile({.loss = mean_absolute_error(), .optimizer = Sgd{0}});
  const Tensor x = Tensor::zeros(DType::float32, {2, 1}), y = Tensor::of<float>({2, 1}, {1, 1});
  const auto history = model.fit(
      {x, y}, quiet({.epochs = 9,
                     .batch_size = 2,
                     .validation_data = TrainingData{x, y},
                     .validation_freq = 2,
                     .callbacks = {early_stopping({.patience = 2}), csv_logger(folder.file("log"))}}));
  BOOST_TEST(history.epochs.size() == 6U);
  BOOST_TEST(std::isnan(history.of("val_loss").at(0)));
  BOOST_TEST(read_file(folder.file("log")) ==
             "epoch,loss,val_loss\n1,1,\n2,1,1\n3,1,\n4,1,1\n5,1,\n6,1,1\n");
}

BOOST_AUTO_TEST_CASE(validation_that_makes_no_sense_is_refused) {
  BOOST_CHECK_EXCEPTION(ValidationFreq(0), Error, says("validation_freq of 1 epoch or more, got 0"));
  BOOST_CHECK_EXCEPTION(ValidationFreq(-2), Error, says("got -2"));
  BOOST_CHECK_EXCEPTION(ValidationFreq(std::vector<int>{}), Error, says("needs the number of an epoch"));
  BOOST_CHECK_EXCEPTION((ValidationFreq{3, 0}), Error, says("counted from 1, got 0"));
  const TrainingData data = of_classes({0, 1});
  expect_refused(quiet({.batch_size = 2, .validation_data = data, .validation_steps = -1}),
                 "got -1 and 0", data);
  expect_refused(quiet({.batch_size = 2, .validation_data = data, .validation_batch_size = -3}),
                 "got 0 and -3", data);
  for (const FitOptions& lonely : {quiet({.batch_size = 2, .validation_steps = 1}),
                                   quiet({.batch_size = 2, .validation_batch_size = 1})})
    expect_refused(lonely, "are of validation_data or a validation_split", data);
}

BOOST_AUTO_TEST_SUITE_END()
