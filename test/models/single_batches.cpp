// Prediction and evaluation of datasets, and steps of single batches.
#include <boost/test/unit_test.hpp>

#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "test/models/support/toy_data.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(single_batches)

using namespace actorflow;
using namespace actorflow::test;

namespace {

Model line() {
  Model model = sequential({dense(4, tanh), dense(1)});
  model.compile({.loss = mean_squared_error(),
                 .optimizer = Adam{0.05},
                 .metrics = {metric_of(mean_absolute_error())}});
  return model;
}

Tensor rows(const Tensor& all, std::int64_t first, std::int64_t count) {
  const auto values =
      all.values<float>().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  return Tensor::of<float>({count, 1}, {values.begin(), values.end()});
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_dataset_is_predicted_as_its_tensors_are) {
  const auto [x, y] = points_of_a_line(10);
  Model model = line();
  model.fit({x, y}, quiet({.batch_size = 5}));
  const Tensor expected = model.predict(x, 4);
  const Dataset inputs = Dataset::tensors({x}).filter([](const Tuple&) { return true; });
  for (const Dataset& examples : {inputs, Dataset::tensors({x, y})}) {
    const auto predicted = model.predict(examples, {.batch_size = 4});
    BOOST_TEST_REQUIRE(predicted.size() == 1U);
    BOOST_TEST(identical(predicted[0], expected));
  }
  const auto some = model.predict(Dataset::tensors({x}).repeat(), {.batch_size = 4, .steps = 2});
  BOOST_TEST(identical(some[0], model.predict(rows(x, 0, 8), 4)));
  BOOST_TEST(identical(model.predict_on_batch(x), model.predict(x, 10)));
}

BOOST_AUTO_TEST_CASE(predictions_during_fit_are_of_the_weights_so_far) {
  const auto [x, y] = points_of_a_line(8);
  for (const Distribution& strategy : {Distribution(OneDevice{}), Distribution(Mirrored{2})}) {
    std::vector<Tensor> seen;
    FitOptions options = quiet({.epochs = 2, .batch_size = 4, .strategy = strategy});
    options.callbacks = {callback({.on_epoch_end = [&, &x = x](FitContext& training, int, Logs&) {
      seen.push_back(training.model().predict(x));
    }})};
    Model model = line();
    model.fit({x, y}, options);
    BOOST_TEST(!identical(seen.at(0), seen.at(1)));
    BOOST_TEST(identical(seen.at(1), model.predict(x)));
  }
}

BOOST_AUTO_TEST_CASE(an_evaluation_takes_its_first_batches) {
  Model model = sequential({constant_layer(0)});
  model.compile({.loss = mean_absolute_error()});
  const Tensor x = Tensor::zeros(DType::float32, {5, 1});
  const Tensor y = Tensor::of<float>({5, 1}, {1, 1, 4, 6, 20});
  BOOST_TEST(model.evaluate({x, y}, {.batch_size = 2, .steps = 2}).at("loss") == 3.0);
  BOOST_TEST(
      model.evaluate(Dataset::tensors({x, y}).repeat(), {.batch_size = 2, .steps = 1}).at("loss") ==
      1.0);
  BOOST_TEST(model.test_on_batch({x, y}).at("loss") == 6.4, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(steps_of_single_batches_are_those_of_fit) {
  const auto [x, y] = points_of_a_line(8);
  Model by_fit = line(), by_batches = line();
  const auto history = by_fit.fit({x, y}, quiet({.epochs = 2, .batch_size = 4, .shuffle = false}));
  double loss = 0;
  for (int step = 0; step < 4; ++step) {
    const std::int64_t first = step % 2 * 4;
    const Logs logs = by_batches.train_on_batch({rows(x, first, 4), rows(y, first, 4)});
    BOOST_TEST(logs.find("mean_absolute_error").has_value());
    if (step >= 2) loss += logs.at("loss") / 2;
  }
  BOOST_TEST(same(by_batches.weights(), by_fit.weights()));
  BOOST_TEST(by_batches.step() == 4);
  BOOST_TEST(loss == history.of("loss").at(1), boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(single_batches_go_on_from_a_strategy_and_a_strategy_from_them) {
  const auto [x, y] = points_of_a_line(8);
  const auto train = [&, &x = x, &y = y](const Distribution& strategy) {
    Model model = line();
    model.fit({x, y}, quiet({.batch_size = 8, .strategy = strategy}));
    model.train_on_batch({x, y});
    model.fit({x, y}, quiet({.batch_size = 8, .strategy = strategy}));
    BOOST_TEST(model.step() == 3);
    return model.evaluate({x, y}).at("loss");
  };
  BOOST_TEST(train(Mirrored{2}) == train(OneDevice{}), boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(what_single_batches_cannot_do_is_refused) {
  const auto [x, y] = points_of_a_line(8);
  Model model = line();
  BOOST_CHECK_EXCEPTION(model.train_on_batch(Dataset::tensors({x})), Error, says("1 input and 1 label"));
  BOOST_CHECK_EXCEPTION(model.evaluate({x, y}, {.steps = -1}), Error,
                        says("evaluate: expected 0 steps, for all batches, or more, got -1"));
  BOOST_CHECK_EXCEPTION(model.predict(Dataset::tensors({x}), {.steps = -2}), Error,
                        says("predict: expected 0 steps"));
  BOOST_CHECK_EXCEPTION(model.predict(Dataset::tensors({x, y, y, y})), Error,
                        says("but these have 4 tensors"));
  BOOST_CHECK_EXCEPTION(model.predict(Dataset::tensors({x}), {.batch_size = 0}), Error,
                        says("batch size of 1 or more"));
  const auto one = callback({.on_epoch_end = [&, &x = x, &y = y](FitContext& training, int, Logs&) {
    training.model().train_on_batch({x, y});
  }});
  BOOST_CHECK_EXCEPTION(
      model.fit({x, y}, quiet({.batch_size = 4, .callbacks = {one}, .strategy = Mirrored{2}})), Error,
      says("train_on_batch: fit() trains the model now"));
}

BOOST_AUTO_TEST_SUITE_END()
