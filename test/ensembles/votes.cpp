// Votes and stacking beside scikit-learn's, and by hand.
#include "actors/ensembles/votes.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "actors/ensembles/ensemble_state.h"
#include "actors/ensembles/logistic_regression.h"
#include "actors/ensembles/ridge_regression.h"
#include "actors/ensembles/samples.h"
#include "test/ensembles/scikit_learn/votes.h"

BOOST_AUTO_TEST_SUITE(votes)

using namespace actorflow;
namespace sk = actorflow::test::scikit_learn;

namespace {

Tensor logits_of(std::int64_t member) {
  const auto size = sk::rows * sk::classes;
  const auto begin = sk::logits.begin() + member * size;
  return Tensor::of<double>({sk::rows, sk::classes}, {begin, begin + size});
}

Predictions all_members(std::vector<double> weights) {
  Predictions predictions{{}, std::move(weights)};
  for (std::int64_t member = 0; member < sk::members; ++member)
    predictions.outputs.push_back(logits_of(member));
  return predictions;
}

void expect_near(const Tensor& values, const std::vector<double>& expected, double tolerance) {
  BOOST_TEST_REQUIRE(values.elements() == static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST(std::abs(values.values<double>()[i] - expected[i]) < tolerance, "element " << i);
}

void expect_classes(const Tensor& classes, const std::vector<std::int64_t>& expected) {
  const auto values = classes.values<std::int64_t>();
  BOOST_TEST(std::vector(values.begin(), values.end()) == expected, boost::test_tools::per_element());
}

void expect_stacking(bool passthrough, const std::vector<double>& expected) {
  std::vector<Tensor> probabilities;
  for (std::int64_t member = 0; member < sk::members; ++member)
    probabilities.push_back(probabilities_of(logits_of(member)));
  std::vector<double> numbers;
  for (std::int64_t row = 0; row < sk::rows; ++row) numbers.push_back(static_cast<double>(row));
  const Tensor features = stacked_features({.passthrough = passthrough}, probabilities,
                                           {Tensor::of<double>({sk::rows, 1}, numbers)});
  const auto regression = fit_logistic_regression(features, sk::labels, sk::classes, 1);
  expect_near(probabilities_of(regression(features)), expected, 1e-5);
}

void expect_stacked_numbers(bool passthrough, const std::vector<double>& expected) {
  const auto table = [](std::vector<double> column) {
    return Tensor::of<double>({sk::rows, 1}, column);
  };
  std::vector<Tensor> answers;
  for (std::int64_t member = 0; member < sk::members; ++member) {
    const auto begin = sk::predicted_numbers.begin() + member * sk::rows;
    answers.push_back(
        stacked_answers(Vote::mean, Tensor::of<double>({sk::rows}, {begin, begin + sk::rows})));
  }
  std::vector<double> inputs;
  for (std::int64_t row = 0; row < sk::rows; ++row) inputs.push_back(static_cast<double>(row));
  const Tensor features = stacked_features({.passthrough = passthrough}, answers, {table(inputs)});
  expect_near(fit_ridge_regression(features, table(sk::numbers), 1)(features), expected, 1e-9);
}

}  // namespace

BOOST_AUTO_TEST_CASE(soft_votes_are_those_of_scikit_learn) {
  const Tensor probabilities = soft_vote(all_members(sk::weights));
  expect_near(probabilities, sk::soft_probabilities, 1e-12);
  expect_classes(largest(probabilities), sk::soft_classes);
}

BOOST_AUTO_TEST_CASE(hard_votes_are_those_of_scikit_learn) {
  expect_classes(hard_vote(all_members({1, 1, 1})), sk::hard_classes);
  expect_classes(hard_vote(all_members(sk::weights)), sk::weighted_hard_classes);
}

BOOST_AUTO_TEST_CASE(stacking_is_that_of_scikit_learn) {
  BOOST_TEST(stratified_folds(sk::labels, sk::folds) == sk::fold_of_row,
             boost::test_tools::per_element());
  expect_stacking(false, sk::stacked_probabilities);
  expect_stacking(true, sk::passthrough_probabilities);
}

BOOST_AUTO_TEST_CASE(stacking_of_numbers_is_that_of_scikit_learn) {
  BOOST_TEST(consecutive_folds(sk::rows, 7) == sk::consecutive_fold_of_row,
             boost::test_tools::per_element());
  expect_stacked_numbers(false, sk::stacked_numbers);
  expect_stacked_numbers(true, sk::passthrough_numbers);
}

// The weights are those of copies of the same examples with a penalty that is as much larger.
BOOST_AUTO_TEST_CASE(a_regression_of_more_features_than_examples_is_that_of_many_copies_of_them) {
  const std::int64_t rows = 5, features = 9, copies = 3;
  std::vector<double> x, y;
  for (std::int64_t i = 0; i < rows * features; ++i) x.push_back(static_cast<double>(i * i % 17) - 8);
  for (std::int64_t i = 0; i < rows * 2; ++i) y.push_back(static_cast<double>(i * i % 7));
  std::vector<double> all_x, all_y;
  for (std::int64_t i = 0; i < copies; ++i) {
    all_x.insert(all_x.end(), x.begin(), x.end());
    all_y.insert(all_y.end(), y.begin(), y.end());
  }
  const LinearScores few =
      fit_ridge_regression(Tensor::of<double>({rows, features}, x), Tensor::of<double>({rows, 2}, y), 1);
  const LinearScores many = fit_ridge_regression(Tensor::of<double>({copies * rows, features}, all_x),
                                                 Tensor::of<double>({copies * rows, 2}, all_y),
                                                 1 / static_cast<double>(copies));
  const auto weights = many.weights.values<double>(), bias = many.bias.values<double>();
  expect_near(few.weights, {weights.begin(), weights.end()}, 1e-9);
  expect_near(few.bias, {bias.begin(), bias.end()}, 1e-9);
}

BOOST_AUTO_TEST_CASE(stacking_sees_a_column_for_each_class_and_member_and_the_inputs_if_it_is_to) {
  const Tensor of_member = Tensor::zeros(DType::float64, {5, 3});
  const Tuple inputs{Tensor::zeros(DType::float32, {5, 4}), Tensor::zeros(DType::float32, {5, 2, 2})};
  const auto columns = [&](bool passthrough, const Tuple& x) {
    return stacked_features({.passthrough = passthrough}, {of_member, of_member}, x).shape()[1];
  };
  BOOST_TEST(columns(false, {inputs[0]}) == 6);
  BOOST_TEST(columns(true, {inputs[0]}) == 10);
  BOOST_TEST(columns(true, inputs) == 14);
}

BOOST_AUTO_TEST_CASE(a_tie_goes_to_the_smaller_class) {
  const Tensor two = Tensor::of<float>({1, 3}, {0, 0, 1}), one = Tensor::of<float>({1, 3}, {0, 1, 0});
  expect_classes(hard_vote({{two, one}, {1, 1}}), {1});
  expect_classes(hard_vote({{two, one}, {2, 1}}), {2});
  expect_classes(largest(Tensor::of<double>({1, 3}, {0.2, 0.4, 0.4})), {1});
}

BOOST_AUTO_TEST_CASE(one_logit_is_that_of_class_1) {
  const double p = 1 / (1 + std::exp(-2.0));
  expect_near(probabilities_of(Tensor::of<float>({2, 1}, {2, -2})), {1 - p, p, p, 1 - p}, 1e-12);
  expect_near(probabilities_of(Tensor::of<float>({1}, {2})), {1 - p, p}, 1e-12);
}

BOOST_AUTO_TEST_CASE(means_are_weighted) {
  const Tensor a = Tensor::of<float>({2}, {1, 2}), b = Tensor::of<float>({2}, {5, 6});
  expect_near(mean_of({{a, b}, {3, 1}}), {2, 3}, 1e-12);
}

BOOST_AUTO_TEST_CASE(a_bootstrap_sample_leaves_out_about_a_third) {
  const RowNumbers sample = bootstrap_sample(10'000, 10'000, 1);
  const RowNumbers others = left_out(10'000, sample);
  BOOST_TEST(std::abs(static_cast<double>(others.size()) / 10'000 - std::exp(-1)) < 0.02);
  BOOST_TEST(std::set(sample.begin(), sample.end()).size() + others.size() == 10'000u);
  BOOST_TEST((bootstrap_sample(100, 50, 2) == bootstrap_sample(100, 50, 2)));
  BOOST_TEST((bootstrap_sample(100, 50, 2) != bootstrap_sample(100, 50, 3)));
}

BOOST_AUTO_TEST_SUITE_END()
