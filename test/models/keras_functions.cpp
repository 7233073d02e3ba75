// Losses, metrics, penalties and initialisers beside those of Keras: keras/functions.py has made the
// numbers.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>

#include "actors/client/session.h"
#include "actors/layers/initializer.h"
#include "actors/layers/losses.h"
#include "actors/layers/metrics.h"
#include "actors/layers/regularizer.h"
#include "actors/models/model.h"
#include "kernels/ops.h"
#include "test/models/keras/functions.h"
#include "test/models/support/toy_data.h"

BOOST_AUTO_TEST_SUITE(keras_functions)

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::int64_t rows = 24, classes = 6;

// float32 [rows, classes] of a function of the place, from 0 on, as keras/functions.py makes them.
Tensor filled(const auto& element) {
  std::vector<float> values;
  for (int place = 0; place < rows * classes; ++place)
    values.push_back(static_cast<float>(element(static_cast<double>(place))));
  return Tensor::of<float>({rows, classes}, values);
}

double sign_at(double place) { return std::fmod(place, 5) < 2 ? 1 : -1; }

const Tensor& logits() {
  static const Tensor all = filled([](double place) { return 3 * std::sin(1.7 * place); });
  return all;
}

const Tensor& numbers() {
  static const Tensor all = filled([](double place) { return 2 * std::cos(0.9 * place); });
  return all;
}

Tensor expected_numbers() {
  return filled([](double place) { return std::sin(0.4 * place); });
}
Tensor signs() { return filled(sign_at); }
Tensor bits() {
  return filled([](double place) { return (sign_at(place) + 1) / 2; });
}
Tensor counts() {
  return filled([](double place) { return std::fmod(place, 4); });
}

const Tensor& probabilities() {
  static const Tensor all =
      filled([](double place) { return 0.5 + 0.35 * std::sin(1.3 * place) + 0.14 * sign_at(place); });
  return all;
}

// Of each row the probabilities in reverse order, halved: rows that do not sum up to 1.
Tensor shares() {
  std::vector<float> values;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = classes; i-- > 0;)
      values.push_back(probabilities().values<float>()[static_cast<std::size_t>(row * classes + i)] / 2);
  return Tensor::of<float>({rows, classes}, values);
}

// One-hot rows: of the class number * step.
Tensor one_hot_rows(std::int64_t step) {
  return filled([step](double place) {
    const auto row = static_cast<std::int64_t>(place) / classes;
    return row * step % classes == static_cast<std::int64_t>(place) % classes ? 1 : 0;
  });
}

Tensor class_numbers() {
  std::vector<std::int64_t> numbers;
  for (std::int64_t row = 0; row < rows; ++row) numbers.push_back(row * 7 % classes);
  return Tensor::of<std::int64_t>({rows}, numbers);
}

// [rows, 1]
Tensor first_column(const Tensor& all) {
  std::vector<float> values;
  for (std::int64_t row = 0; row < rows; ++row)
    values.push_back(all.values<float>()[static_cast<std::size_t>(row * classes)]);
  return Tensor::of<float>({rows, 1}, values);
}

Tensor mapped(const Tensor& all, float (*function)(float)) {
  std::vector<float> values;
  std::ranges::transform(all.values<float>(), std::back_inserter(values), function);
  return Tensor::of<float>(all.shape(), values);
}

double at_end(Graph& graph, Output scalar) {
  return static_cast<double>(Session(graph).run(scalar).scalar<float>());
}

// Of each row; of a loss of numbers, the mean over a row's numbers, as Keras has it.
void expect_loss(const char* name, const Loss& loss, const Tensor& labels, const Tensor& prediction,
                 const std::vector<double>& expected) {
  Graph graph;
  Output costs = loss.of(graph.constant(prediction), graph.constant(labels));
  if (costs.shape().rank() == 2) costs = mean(costs, {1});
  const Tensor actual = Session(graph).run(costs);
  BOOST_TEST_REQUIRE(actual.values<float>().size() == expected.size());
  for (std::size_t row = 0; row < expected.size(); ++row)
    BOOST_TEST(
        std::abs(static_cast<double>(actual.values<float>()[row]) - expected[row]) <
            1e-6 * std::max(1.0, std::abs(expected[row])),
        name << " of row " << row << ": " << actual.values<float>()[row] << ", Keras " << expected[row]);
}

// Of a model that answers with its input, evaluated in batches of 10, 10 and 4 rows.
void expect_metric(Metric metric, const Tensor& labels, const Tensor& prediction,
                   const std::vector<double>& expected) {
  metric.name = "metric";
  Model model = sequential(input({prediction.shape()[1]}), {constant_layer(0)});
  const Loss nothing{"nothing", [](Output p, Output) { return p * 0.0; }};
  model.compile({.loss = nothing, .optimizer = Sgd{}, .metrics = {metric}});
  const double actual = model.evaluate({prediction, labels}, {.batch_size = 10}).at("metric");
  BOOST_TEST(std::abs(actual - expected.at(0)) < 1e-5, actual << ", Keras " << expected.at(0));
}

void expect_penalty(const Regularizer& penalty, const std::vector<double>& expected) {
  Graph graph;
  const double actual = at_end(graph, penalty(graph.constant(numbers())));
  BOOST_TEST(std::abs(actual - expected.at(0)) < 1e-5, actual << ", Keras " << expected.at(0));
}

// Mean, standard deviation, smallest and largest value, quantiles at 0.05, 0.25, 0.75 and 0.95.
std::vector<double> described(const Initializer& initializer, const Shape& shape) {
  Graph graph;
  const Tensor weights = Session(graph).run(initializer(graph, shape, 1));
  std::vector<double> values(weights.values<float>().begin(), weights.values<float>().end());
  std::ranges::sort(values);
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  std::vector<double> all{mean, std::sqrt(squares / count), values.front(), values.back()};
  for (const double part : {0.05, 0.25, 0.75, 0.95})
    all.push_back(values[static_cast<std::size_t>(part * (count - 1))]);
  return all;
}

// Two samples of 240,000 values or more differ by less than 0.02 standard deviations; a normal
// distribution that is not truncated ends at 4 of them, one that is not scaled anew is 0.12 narrower.
void expect_initializer(const Initializer& initializer, const Shape& shape,
                        const std::vector<double>& expected) {
  const std::vector<double> actual = described(initializer, shape);
  BOOST_TEST_REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    BOOST_TEST(std::abs(actual[i] - expected[i]) < 0.02 * expected[1],
               "number " << i << ": " << actual[i] << ", Keras " << expected[i]);
}

}  // namespace

BOOST_AUTO_TEST_CASE(losses_of_classes_are_those_of_keras) {
  using namespace keras_says;
  const Tensor labels = class_numbers();
  expect_loss("softmax", softmax_cross_entropy(), labels, logits(), sparse_cross_entropy);
  expect_loss("smoothed", softmax_cross_entropy(0.1), labels, logits(), smoothed_by_1_tenths);
  expect_loss("smoothed", softmax_cross_entropy(0.3), labels, logits(), smoothed_by_3_tenths);
  expect_loss("soft", soft_label_cross_entropy(), probabilities(), logits(), soft_cross_entropy);
  expect_loss("sigmoid", actorflow::sigmoid_cross_entropy(), bits(), logits(),
              keras_says::sigmoid_cross_entropy);
}

BOOST_AUTO_TEST_CASE(losses_of_numbers_are_those_of_keras) {
  using namespace keras_says;
  const Tensor labels = expected_numbers();
  expect_loss("squared", mean_squared_error(), labels, numbers(), squared_error);
  expect_loss("absolute", mean_absolute_error(), labels, numbers(), absolute_error);
  expect_loss("huber", huber(), labels, numbers(), huber_of_1);
  expect_loss("huber", huber(0.5), labels, numbers(), huber_of_a_half);
  expect_loss("hinge", hinge(), signs(), numbers(), hinge_of_signs);
  expect_loss("hinge", hinge(), bits(), numbers(), hinge_of_bits);
  expect_loss("poisson", poisson(), counts(), probabilities(), poisson_of_counts);
}

BOOST_AUTO_TEST_CASE(more_losses_of_numbers_are_those_of_keras) {
  using namespace keras_says;
  const Tensor labels = expected_numbers();
  const Tensor larger = mapped(labels, [](float label) { return label + 1.5F; });
  expect_loss("percentage", mean_absolute_percentage_error(), larger, numbers(), percentage_error);
  expect_loss("logarithmic", mean_squared_logarithmic_error(), counts(), numbers(), logarithmic_error);
  expect_loss("log cosh", actorflow::log_cosh(), labels, numbers(), keras_says::log_cosh);
  expect_loss("squared hinge", squared_hinge(), bits(), numbers(), squared_hinge_of_bits);
  expect_loss("categorical hinge", actorflow::categorical_hinge(), one_hot_rows(7), numbers(),
              keras_says::categorical_hinge);
  expect_loss("cosine", actorflow::cosine_similarity(), labels, numbers(),
              keras_says::cosine_similarity);
}

BOOST_AUTO_TEST_CASE(losses_of_probabilities_are_those_of_keras) {
  using namespace keras_says;
  const Tensor thirds = mapped(probabilities(), [](float p) { return p / 3; });
  expect_loss("divergence", actorflow::kl_divergence(), thirds, shares(), keras_says::kl_divergence);
  expect_loss("sparse", sparse_categorical_cross_entropy(), class_numbers(), shares(),
              sparse_of_probabilities);
  const Tensor one_hot = one_hot_rows(7);
  expect_loss("rows", categorical_cross_entropy(), one_hot, shares(), categorical_of_probabilities);
  expect_loss("smoothed", categorical_cross_entropy(0.2), one_hot, shares(), smoothed_of_probabilities);
  expect_loss("binary", binary_cross_entropy(), bits(), probabilities(), binary_of_probabilities);
  expect_loss("smoothed", binary_cross_entropy(0.2), bits(), probabilities(), smoothed_binary);
  const Tensor sure = mapped(probabilities(), [](float p) { return std::nearbyint(p); });
  expect_loss("binary, sure", binary_cross_entropy(), bits(), sure, binary_of_sure);
  expect_loss("rows, sure", categorical_cross_entropy(), one_hot, one_hot_rows(5), categorical_of_sure);
}

BOOST_AUTO_TEST_CASE(metrics_of_numbers_are_those_of_keras) {
  expect_metric(root_mean_squared_error(), expected_numbers(), numbers(),
                keras_says::root_mean_squared_error);
  expect_metric(r2_score(), expected_numbers(), numbers(), keras_says::r2_score);
}

BOOST_AUTO_TEST_CASE(metrics_of_classes_are_those_of_keras) {
  const Tensor labels = class_numbers();
  expect_metric(accuracy(), labels, logits(), keras_says::accuracy);
  expect_metric(categorical_accuracy(), one_hot_rows(7), logits(), keras_says::categorical_accuracy);
  expect_metric(top_k_accuracy(1), labels, logits(), keras_says::top_1);
  expect_metric(top_k_accuracy(2), labels, logits(), keras_says::top_2);
  expect_metric(top_k_accuracy(5), labels, logits(), keras_says::top_5);
  const Tensor ties = mapped(logits(), [](float logit) { return std::floor(logit); });
  expect_metric(top_k_accuracy(2), labels, ties, keras_says::top_2_of_ties);
}

BOOST_AUTO_TEST_CASE(metrics_of_two_classes_are_those_of_keras) {
  const Tensor labels = first_column(bits()), said = first_column(probabilities());
  expect_metric(binary_accuracy(), labels, said, keras_says::binary_accuracy);
  expect_metric(precision(), labels, said, keras_says::precision);
  expect_metric(precision(0.7), labels, said, keras_says::precision_above_0_7);
  expect_metric(recall(), labels, said, keras_says::recall);
  expect_metric(recall(0.7), labels, said, keras_says::recall_above_0_7);
  expect_metric(f1_score(), labels, said, keras_says::f1_score);
  expect_metric(auc(), labels, said, keras_says::auc);
  expect_metric(pr_auc(), labels, said, keras_says::pr_auc);
  const Tensor ties = mapped(said, [](float p) { return std::floor(p * 4 + 0.5F) / 4; });
  expect_metric(auc(), labels, ties, keras_says::auc_of_ties);
  expect_metric(pr_auc(), labels, ties, keras_says::pr_auc_of_ties);
  const Tensor as_logits = mapped(said, [](float p) { return std::log(p / (1 - p)); });
  expect_metric(auc(true), labels, as_logits, keras_says::auc);
}

BOOST_AUTO_TEST_CASE(penalties_are_those_of_keras) {
  expect_penalty(l1(0.03), keras_says::l1);
  expect_penalty(l2(0.02), keras_says::l2);
  expect_penalty(l1_l2(0.03, 0.02), keras_says::l1_l2);
}

BOOST_AUTO_TEST_CASE(initialisers_have_the_distributions_of_keras) {
  using namespace keras_says;
  const Shape weights{800, 400}, filters{3, 5, 80, 200};
  expect_initializer(glorot_uniform(), weights, glorot_uniform_weights);
  expect_initializer(glorot_uniform(), filters, glorot_uniform_filters);
  expect_initializer(glorot_normal(), weights, glorot_normal_weights);
  expect_initializer(glorot_normal(), filters, glorot_normal_filters);
  expect_initializer(he_uniform(), weights, he_uniform_weights);
  expect_initializer(he_uniform(), filters, he_uniform_filters);
  expect_initializer(he_normal(), weights, he_normal_weights);
  expect_initializer(he_normal(), filters, he_normal_filters);
  expect_initializer(lecun_normal(), weights, lecun_normal_weights);
  expect_initializer(lecun_normal(), filters, lecun_normal_filters);
}

BOOST_AUTO_TEST_SUITE_END()
