// Training by fit(): what it measures, its data, and what it refuses.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "actors/models/model.h"
#include "kernels/ops.h"
#include "kernels/ops/learning_rate.h"
#include "test/models/support/toy_data.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(fit)

using namespace actorflow;
using namespace actorflow::test;

// loss (w - y)^2 of a weight that no step changes: the mean over 3 examples in batches of 2, as the
// distribution strategies of TensorFlow are tested.
BOOST_AUTO_TEST_CASE(a_partial_last_batch_counts_by_its_examples) {
  Model model = sequential({constant_layer(0)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0}});
  const Tensor x = Tensor::zeros(DType::float32, {3, 1});
  const Tensor y = Tensor::of<float>({3, 1}, {2, 4, 3});  // squares 4, 16, 9: batches 10 and 9
  const History history = model.fit({x, y}, quiet({.epochs = 1, .batch_size = 2, .shuffle = false}));
  BOOST_TEST(history.of("loss")[0] == 29.0 / 3, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(model.evaluate({x, y}, {.batch_size = 2}).at("loss") == 29.0 / 3,
             boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(a_history_says_what_was_measured) {
  BOOST_CHECK_EXCEPTION(History{}.of("loss"), Error,
                        says("'loss' was not measured: fit() has ended no"));
  Model model = sequential({dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.1}, .metrics = {}});
  const auto [x, y] = points_of_a_line(4);
  const History history = model.fit({x, y}, quiet({.epochs = 1, .batch_size = 4}));
  BOOST_CHECK_EXCEPTION(history.of("accuracy"), Error, says("'accuracy' was not measured, but: loss"));
}

BOOST_AUTO_TEST_CASE(a_line_is_learned) {
  Model model = sequential({dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.1}});
  const auto [x, y] = points_of_a_line(64);
  const History history = model.fit({x, y}, quiet({.epochs = 50, .batch_size = 16}));
  BOOST_TEST(history.epochs.size() == 50U);
  BOOST_TEST(history.of("loss").back() < 1e-4);
  const auto weights = model.weights();
  BOOST_TEST(weights.at("dense/weights").values<float>()[0] == 2.F, boost::test_tools::tolerance(0.02F));
  BOOST_TEST(weights.at("dense/biases").values<float>()[0] == 1.F, boost::test_tools::tolerance(0.02F));
  BOOST_TEST(model.step() == 200);
}

BOOST_AUTO_TEST_CASE(two_calls_go_on_where_one_would_have_gone) {
  const auto train = [](const std::vector<int>& calls) {
    Model model = sequential({dense(8, tanh), dense(1)});
    model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.01}});
    const auto [x, y] = points_of_a_line(20);
    int done = 0;
    for (const int epochs : calls) {
      model.fit({x, y}, quiet({.epochs = done + epochs, .batch_size = 8, .initial_epoch = done}));
      done += epochs;
    }
    return model.weights();
  };
  BOOST_TEST(same(train({6}), train({2, 4})));
}

BOOST_AUTO_TEST_CASE(a_dataset_without_known_size_is_read_to_its_end_in_each_epoch) {
  const auto [x, y] = points_of_a_line(10);
  const Dataset examples = Dataset::tensors({x, y}).shuffle({.seed = 3});
  Model model = sequential({dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.01}});
  model.fit(examples, quiet({.epochs = 3, .batch_size = 4}));
  BOOST_TEST(model.step() == 9);
  model.fit(examples, quiet({.epochs = 2, .batch_size = 4, .steps_per_epoch = 5}));
  BOOST_TEST(model.step() == 19);
}

// Nor are earlier passes read again for a later epoch.
BOOST_AUTO_TEST_CASE(each_epoch_reads_a_dataset_once) {
  const auto [x, y] = points_of_a_line(10);
  std::atomic<int> read = 0;
  const Dataset examples = Dataset::tensors({x, y}).filter([&read](const Tuple&) {
    ++read;
    return true;
  });
  Model model = sequential({dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.01}});
  model.fit(examples, quiet({.epochs = 8, .batch_size = 5}));
  BOOST_TEST(read == 81);  // one to learn its type
}

// Also where only reading tells how many there are, and before anything is learned.
BOOST_AUTO_TEST_CASE(a_batch_that_is_larger_than_a_dataset_is_refused) {
  const auto [x, y] = points_of_a_line(8);
  const Dataset examples = Dataset::tensors({x, y});
  Model model = sequential(input({1}), {dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.01}});
  const auto train = [&](std::int64_t parts, const Distribution& strategy) {
    model.fit(examples,
              quiet({.batch_size = 12, .gradient_accumulation_steps = parts, .strategy = strategy}));
  };
  const auto refusal = says("a batch of 12 examples is larger than the data, which have 8");
  BOOST_CHECK_EXCEPTION(train(1, OneDevice{}), Error, refusal);
  BOOST_CHECK_EXCEPTION(train(3, OneDevice{}), Error, refusal);
  BOOST_CHECK_EXCEPTION(train(1, Mirrored{2}), Error, refusal);
  BOOST_TEST(model.step() == 0);
  // Testing takes what there is, and steps_per_epoch reads the data again and again.
  const TrainingData few = examples.take(3);
  model.fit(examples, quiet({.batch_size = 8, .validation_data = few}));
  model.fit(examples, quiet({.batch_size = 12, .steps_per_epoch = 2}));
  BOOST_TEST(model.step() == 3);
  BOOST_TEST(std::isfinite(model.evaluate(few).at("loss")));
}

// An error that says so, as of a list that is too short, is none.
BOOST_AUTO_TEST_CASE(only_the_end_of_the_data_is_their_end) {
  const auto [x, y] = points_of_a_line(10);
  int calls = 0;
  const Dataset examples = Dataset::tensors({x, y}).map([&calls](const Tuple& element) {
    if (++calls == 8) throw Error(Code::out_of_range, "the list is too short");
    return element;
  });
  Model model = sequential({dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.01}});
  BOOST_CHECK_EXCEPTION(model.fit(examples, quiet({.epochs = 1, .batch_size = 5})), Error,
                        says("the list is too short"));
}

BOOST_AUTO_TEST_CASE(weights_of_examples_multiply_their_losses) {
  Model model = sequential({constant_layer(0)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0}, .sample_weights = true});
  const Tensor x = Tensor::zeros(DType::float32, {2, 1});
  const Tensor y = Tensor::of<float>({2, 1}, {1, 3});
  const Tensor weights = Tensor::of<float>({2}, {0.5F, 2});
  BOOST_TEST(model.evaluate(Dataset::tensors({x, y, weights}), {}).at("loss") == (0.5 + 18) / 2,
             boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(validation_is_of_the_last_examples) {
  Model model = sequential({constant_layer(0)});
  model.compile({.loss = mean_absolute_error(), .optimizer = Sgd{0}});
  const Tensor x = Tensor::zeros(DType::float32, {4, 1});
  const Tensor y = Tensor::of<float>({4, 1}, {1, 1, 1, 5});
  const History history = model.fit({x, y}, quiet({.batch_size = 2, .validation_split = 0.25}));
  BOOST_TEST(history.of("loss")[0] == 1.0);
  BOOST_TEST(history.of("val_loss")[0] == 5.0);
}

BOOST_AUTO_TEST_CASE(what_is_left_for_training_is_rounded_down) {
  Model model = sequential({constant_layer(0)});
  model.compile({.loss = mean_absolute_error(), .optimizer = Sgd{0}});
  const Tensor x = Tensor::zeros(DType::float32, {10, 1});
  const Tensor y = Tensor::of<float>({10, 1}, {1, 1, 1, 1, 1, 1, 1, 10, 1, 1});
  const History history = model.fit({x, y}, quiet({.batch_size = 7, .validation_split = 0.25}));
  BOOST_TEST(history.of("loss")[0] == 1.0);      // of 7, as Keras divides them
  BOOST_TEST(history.of("val_loss")[0] == 4.0);  // of 3
}

BOOST_AUTO_TEST_CASE(a_model_that_is_sure_and_right_has_a_small_loss_still) {
  Model model = sequential({constant_layer(0)});
  model.compile({.loss = sigmoid_cross_entropy(), .optimizer = Sgd{0}});
  for (const float logit : {20.F, 80.F, -20.F, -80.F}) {
    const Tensor x = Tensor::of<float>({1, 1}, {logit});
    const Tensor label = Tensor::of<float>({1, 1}, {logit > 0 ? 1.F : 0.F});
    BOOST_TEST(model.evaluate({x, label}).at("loss") == std::log1p(std::exp(-std::fabs(logit))),
               boost::test_tools::tolerance(1e-5F));
  }
}

BOOST_AUTO_TEST_CASE(several_inputs_and_outputs_have_a_loss_each) {
  const SymbolicTensor a = input({1}), b = input({1});
  const SymbolicTensor sum = add()({a, b});
  Model model({a, b}, {sum, multiply()({a, b})});
  model.compile({.loss = {mean_squared_error(), mean_absolute_error()},
                 .loss_weights = {1, 0.5},
                 .metrics = {metric_of(mean_absolute_error()).of_output(1)}});
  const Tensor x = Tensor::of<float>({1, 1}, {3}), y = Tensor::of<float>({1, 1}, {4});
  const Tensor zero = Tensor::zeros(DType::float32, {1, 1});
  const Logs logs = model.evaluate({{x, y}, {zero, zero}});
  BOOST_TEST(logs.at("loss") == 49 + 0.5 * 12, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(logs.at("mean_absolute_error") == 12.0, boost::test_tools::tolerance(1e-6));
  const auto predicted = model.predict({x, y});
  BOOST_TEST(predicted[0].values<float>()[0] == 7.F);
  BOOST_TEST(predicted[1].values<float>()[0] == 12.F);
}

BOOST_AUTO_TEST_CASE(predictions_come_in_the_order_of_the_rows) {
  Model model = sequential({constant_layer(1)});
  const auto [x, y] = points_of_a_line(7);
  const Tensor predicted = model.predict(x, 3);
  BOOST_TEST(predicted.describe() == "float32[7,1]");
  for (std::size_t i = 0; i < 7; ++i)
    BOOST_TEST(predicted.values<float>()[i] == x.values<float>()[i] + 1);
}

BOOST_AUTO_TEST_CASE(a_layer_that_mixes_examples_is_found_when_it_predicts) {
  const auto [x, y] = points_of_a_line(3);
  Model model = sequential({Layer("twice", [](LayerScope&, Output a) { return concat({a, a}, 0); })});
  BOOST_CHECK_EXCEPTION(model.predict(x), Error,
                        says("output 0 is float32[6,1] for 3 examples: expected a row for each"));
}

BOOST_AUTO_TEST_CASE(the_learning_rate_follows_its_schedule) {
  Model model = sequential({dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{}, .learning_rate = [](Output step) {
                   return exponential_decay(0.1, step, 1, 0.5);
                 }});
  const auto [x, y] = points_of_a_line(8);
  model.fit({x, y}, quiet({.batch_size = 4}));
  BOOST_TEST(model.learning_rate() == 0.025, boost::test_tools::tolerance(1e-9));
  BOOST_CHECK_EXCEPTION(model.set_learning_rate(1), Error, says("follows the schedule"));
}

BOOST_AUTO_TEST_CASE(penalties_are_part_of_the_loss) {
  Model model = sequential({dense(1, {}, {.bias = false, .weights = ones(), .regularizer = l2(0.5)})});
  model.compile({.loss = mean_squared_error()});
  const Tensor one = Tensor::of<float>({1, 2}, {1, 1}), y = Tensor::of<float>({1, 1}, {0});
  BOOST_TEST(model.evaluate({one, y}).at("loss") == 4 + 0.5 * 2, boost::test_tools::tolerance(1e-6));
}

// Measured in float32: batches of 1 and 256 have a mean of 128.5, which bfloat16 does not have.
BOOST_AUTO_TEST_CASE(losses_and_metrics_of_16_bits_are_measured_in_float32) {
  Model model = sequential({constant_layer(0)});
  const auto short_difference = [](Output predicted, Output labels) {
    return cast(labels - predicted, DType::bfloat16);
  };
  const Metric difference{.name = "difference", .of_batch = [=](Output predicted, Output labels) {
                            return mean(short_difference(predicted, labels));
                          }};
  model.compile({.loss = Loss{"difference", short_difference},
                 .optimizer = Sgd{0},
                 .metrics = {difference},
                 .sample_weights = true});
  const Tensor x = Tensor::zeros(DType::float32, {2, 1}), y = Tensor::of<float>({2, 1}, {1, 256});
  const History history =
      model.fit(Dataset::tensors({x, y, Tensor{1.0F, 1.0F}}), quiet({.epochs = 2, .batch_size = 1}));
  BOOST_TEST(history.of("loss").back() == 128.5);
  BOOST_TEST(history.of("difference").back() == 128.5);
  BOOST_TEST(model.step() == 4);
}

// Predictions [batch, 1] against labels [batch], in a function of the user's own.
BOOST_AUTO_TEST_CASE(a_loss_that_pairs_each_prediction_with_all_labels_is_refused) {
  const Tensor x = Tensor::zeros(DType::float32, {4, 1}), y = Tensor::of<float>({4}, {1, 2, 3, 4});
  const auto loss_with = [&](const std::function<Output(Output, Output)>& function) {
    Model model = sequential({constant_layer(0)});
    model.compile({.loss = Loss{"own", function}});
    return model.evaluate({x, y}).at("loss");
  };
  const char* advice = "each example of the batch with each other one; give both one shape";
  BOOST_CHECK_EXCEPTION(loss_with([](Output p, Output label) { return square(p - label); }), Error,
                        says(advice));
  BOOST_CHECK_EXCEPTION(loss_with([](Output p, Output label) { return mean(square(label - p)); }), Error,
                        says(advice));
  BOOST_TEST(loss_with([](Output p, Output label) { return square(reshape(p, {-1}) - label); }) == 7.5);
  BOOST_TEST(loss_with([](Output p, Output label) {
               return mean(square(p - reshape(label, {1, -1})), {1});  // pairs, and meant
             }) == 7.5);
  Model model = sequential({constant_layer(0)});
  const Metric own{.name = "own", .of_batch = [](Output p, Output label) { return mean(p - label); }};
  model.compile({.loss = mean_squared_error(), .metrics = {own}});
  BOOST_CHECK_EXCEPTION(model.evaluate({x, y}), Error, says(advice));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_with_both_sides) {
  const auto [x, y] = points_of_a_line(8);
  Model model = sequential({dense(1)});
  BOOST_CHECK_EXCEPTION(model.fit({x, y}), Error, says("has not been compiled; call compile()"));
  BOOST_CHECK_EXCEPTION(model.weights(), Error,
                        says("the model's inputs are unknown; give it an input()"));
  model.compile({.loss = {mean_squared_error(), mean_squared_error()}});
  BOOST_CHECK_EXCEPTION(model.fit({x, y}), Error, says("has 1 output, but there are 2 losses"));
  model.compile({.loss = softmax_cross_entropy()});
  BOOST_CHECK_EXCEPTION(model.fit({x, y}), Error, says("class numbers"));
  model.compile({.loss = mean_squared_error(), .metrics = {binary_accuracy(0), binary_accuracy(1)}});
  BOOST_CHECK_EXCEPTION(model.fit({x, y}), Error,
                        says("two metrics of output 0 are named 'binary_accuracy'"));
  model.compile({.loss = mean_squared_error(), .metrics = {accuracy().of_output(1)}});
  BOOST_CHECK_EXCEPTION(model.fit({x, y}), Error,
                        says("output 1, but the model has the outputs 0 to 0"));
  model.compile({.loss = Loss{"own", {}}});
  BOOST_CHECK_EXCEPTION(model.fit({x, y}), Error, says("loss 'own' has no function"));
  const auto nothing = [](Output) { return Output(); };
  model.compile({.loss = mean_squared_error(), .learning_rate = nothing});
  BOOST_CHECK_EXCEPTION(model.fit({x, y}), Error,
                        says("schedule 'learning_rate': its function has returned an empty Output"));
  Model penalised = sequential({dense(1, {}, {.regularizer = nothing})});
  penalised.compile({.loss = mean_squared_error()});
  BOOST_CHECK_EXCEPTION(
      penalised.fit({x, y}, quiet({.batch_size = 8})), Error,
      says("regularizer of 'dense/weights': its function has returned an empty Output"));
  model.compile({.loss = mean_squared_error()});
  BOOST_CHECK_EXCEPTION(model.fit({x, y}, quiet({.batch_size = 9})), Error,
                        says("a batch of 9 examples is larger than the data, which have 8"));
  BOOST_CHECK_EXCEPTION(model.fit(Dataset::tensors({x})), Error, says("1 input and 1 label"));
  model.fit({x, y}, quiet({.batch_size = 8}));
  BOOST_CHECK_EXCEPTION(model.predict(Tensor::zeros(DType::float32, {2, 3})), Error,
                        says("takes float32[1] for each example, got float32[3]"));
  BOOST_CHECK_EXCEPTION(model.fit({x, y}, quiet({.validation_split = 1.5})), Error,
                        says("validation_split"));
  BOOST_CHECK_EXCEPTION(sequential({}), Error, says("at least one layer"));
}

BOOST_AUTO_TEST_SUITE_END()
