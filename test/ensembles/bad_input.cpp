// What ensembles refuse, and what they say.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "actors/ensembles/ensemble.h"
#include "actors/ensembles/ensemble_plan.h"
#include "actors/ensembles/plan_checks.h"
#include "actors/ensembles/ridge_regression.h"
#include "actors/models/fit/callbacks.h"
#include "test/ensembles/support/flowers.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(bad_input)

using namespace actorflow;
using namespace actorflow::test;

namespace {

void expect_error(const std::string& error, const std::string& part) {
  BOOST_TEST(error.find(part) != std::string::npos, "expected '" << part << "' in '" << error << "'");
}

std::string refused(const EnsembleOptions& options) {
  const Model model = small_model(3);
  return error_of([&] { ensemble(model, options); });
}

std::string refused_fit(const EnsembleOptions& options, const Labelled& data, const FitOptions& fit) {
  const Model model = small_model(3);
  Ensemble members = ensemble(model, options);
  return error_of([&] { members.fit({data.x, data.y}, fit); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(options_are_checked_at_once) {
  expect_error(refused({.members = 1}), "expected 2 members or more, got 1");
  expect_error(refused({.members = 10'001}), "expected at most 10000 members, got 10001; use fewer");
  expect_error(refused({.members = 3, .weights = {1, 2}}), "expected one for each of 3 members, got 2");
  expect_error(refused({.members = 2, .weights = {1, -2}}), "numbers of 0 or more, got -2");
  expect_error(refused({.members = 2, .weights = {0, 0}}), "one at least must be above 0");
  expect_error(refused({.members = 2, .method = EnsembleMethod::stacking, .weights = {1, 2}}),
               "the regression of stacking learns its own");
  expect_error(refused({.members = 2, .method = EnsembleMethod::stacking, .vote = Vote::hard}),
               "the regression of stacking answers, not a hard vote");
  expect_error(refused({.max_samples = 0}), "max_samples");
  expect_error(refused({.folds = 1}), "folds: expected 2 or more, got 1");
  expect_error(error_of([] { ensemble(sequential({dense(2)}), {}); }), "has not been compiled");
}

BOOST_AUTO_TEST_CASE(frozen_layers_without_weights_are_named) {
  Model model = small_model(3);
  model.get_layer("dense").set_trainable(false);
  const std::string error = error_of([&] { ensemble(model); });
  expect_error(error, "the weights of frozen layers (dense) from their model: the model's inputs are");
}

BOOST_AUTO_TEST_CASE(frozen_layers_of_other_inputs_are_refused) {
  const auto [x, y] = three_clouds(30, 1);
  Model model = small_model(3);
  model.build({{DType::float32, {3}}});
  model.get_layer("dense").set_trainable(false);
  Ensemble members = ensemble(model, {.members = 2});
  expect_error(error_of([&, &x = x, &y = y] {
                 members.fit({x, y}, quiet(1));
               }),
               "takes float32[3] for each example, got float32[2]");
}

BOOST_AUTO_TEST_CASE(members_answer_alike) {
  const Model three = small_model(3), four = small_model(4);
  Ensemble members = ensemble({three, four});
  const auto [x, y] = three_clouds(30, 1);
  expect_error(error_of([&] {
                 members.fit({x, y}, quiet(1));
               }),
               "member 0 gives float32[?,3], and member 1 float32[?,4]");
}

BOOST_AUTO_TEST_CASE(a_member_that_takes_other_examples_is_named) {
  const auto [x, y] = three_clouds(30, 1);
  const Model two = small_model(3);
  Model three = sequential(input({3}), {dense(3)});
  three.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.01}});
  Ensemble members = ensemble({two, three});
  expect_error(error_of([&, &x = x, &y = y] {
                 members.fit({x, y}, quiet(1));
               }),
               "member 1: input 0: the model takes float32[3] for each example, got float32[2]");
}

BOOST_AUTO_TEST_CASE(members_learn_the_same_inputs_and_have_one_output) {
  const Model one = small_model(3), two = model_of_two_inputs(3);
  expect_error(error_of([&] { ensemble({one, two}); }), "their models' inputs are 1 and 2");
  const SymbolicTensor x = input({2});
  Model forked({x}, {dense(3)(x), dense(3)(x)});
  forked.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.01}});
  expect_error(error_of([&] { ensemble(forked); }), "has one output, got 2");
  const Labelled ten = three_clouds(10, 1);
  Ensemble members = ensemble(two, {.members = 2});
  members.fit({columns_of(ten.x), {ten.y}}, quiet(1, 5));
  expect_error(error_of([&] { members.predict(ten.x); }),
               "expected a tensor for each of the models' 2 inputs, got 1");
  expect_error(error_of([&] {
                 members.fit({ten.x, ten.y}, quiet(1, 5));
               }),
               "an example of this ensemble is 3 tensors, but the data have 2");
}

BOOST_AUTO_TEST_CASE(what_the_members_have_not_learned_is_refused_before_any_predicts) {
  const Labelled ten = three_clouds(10, 1);
  const Model model = small_model(3);
  Ensemble members = ensemble(model, {.members = 2});
  members.fit({ten.x, ten.y}, quiet(1, 5));
  expect_error(error_of([&] {
                 members.predict(Tensor::zeros(DType::float32, {4, 3}));
               }),
               "input 0: the models take float32[2] for each example, got float32[3]");
  expect_error(error_of([&] {
                 members.predict_proba(Tensor::zeros(DType::float64, {4, 2}));
               }),
               "input 0: the models take float32[2] for each example, got float64[2]");
}

BOOST_AUTO_TEST_CASE(data_are_checked_before_any_member_trains) {
  const Labelled ten = three_clouds(10, 1);
  for (const EnsembleMethod method : {EnsembleMethod::full_data, EnsembleMethod::bagging,
                                      EnsembleMethod::stacking, EnsembleMethod::snapshot})
    expect_error(refused_fit({.members = 11, .method = method}, ten, quiet(11, 4)),
                 "11 members cannot learn from 10 examples: expected at most a member for each example");
  expect_error(refused_fit({.members = 2}, ten, quiet(1, 11)),
               "a batch of 11 is larger than all that member 0 learns: 10 examples");
  expect_error(
      refused_fit({.members = 2, .method = EnsembleMethod::stacking, .folds = 4}, ten, quiet(1, 4)),
      "class 1 has only 3 examples");
  const Tensor wrong = Tensor::of<std::int64_t>({10}, {0, 1, 2, 3, 0, 1, 2, 0, 1, 2});
  expect_error(refused_fit({.members = 2}, {ten.x, wrong}, quiet(1, 4)),
               "expected labels from 0 to 2, got 3");
  expect_error(refused_fit({.members = 2}, {ten.x, ten.x}, quiet(1, 4)), "numbers of classes");
  expect_error(refused_fit({.members = 4, .method = EnsembleMethod::snapshot}, ten, quiet(6, 4)),
               "expected epochs for 4 equal cycles, got 6");
  FitOptions late = quiet(4, 4);
  late.initial_epoch = 2;
  expect_error(refused_fit({.members = 2, .method = EnsembleMethod::snapshot}, ten, late),
               "initial_epoch is 2: leave it out");
}

BOOST_AUTO_TEST_CASE(what_members_would_share_is_refused) {
  const Labelled ten = three_clouds(10, 1);
  FitOptions fit = quiet(1, 4);
  fit.strategy = Mirrored{2};
  expect_error(refused_fit({.members = 2}, ten, fit), "leave out the strategy");
  fit = quiet(1, 4);
  fit.callbacks = {terminate_on_nan()};
  expect_error(refused_fit({.members = 2}, ten, fit),
               "callbacks would be called by all members at once");
  expect_error(refused({.members = 2,
                        .method = EnsembleMethod::snapshot,
                        .callbacks = [](int) { return Callbacks{terminate_on_nan()}; }}),
               "leave out the callbacks");
  expect_error(refused({.members = 2,
                        .method = EnsembleMethod::snapshot,
                        .learning_rate = [](std::int64_t) { return LearningRateSchedule{}; }}),
               "leave out EnsembleOptions::learning_rate");
}

BOOST_AUTO_TEST_CASE(classes_are_no_numbers) {
  const auto [x, y] = three_clouds(30, 1);
  const Model model = small_model(3);
  for (const EnsembleMethod method : {EnsembleMethod::full_data, EnsembleMethod::stacking}) {
    Ensemble means = ensemble(model, {.members = 2, .method = method, .vote = Vote::mean});
    expect_error(error_of([&, &x = x, &y = y] {
                   means.fit({x, y}, quiet(1));
                 }),
                 "for classes choose Vote::soft");
  }
}

BOOST_AUTO_TEST_CASE(a_regression_of_what_is_no_number_is_refused) {
  const Tensor same = Tensor::of<double>({3, 2}, {1, 1, 2, 2, 4, 4}),
               numbers = Tensor::of<double>({3, 1}, {1, 2, 3});
  const Tensor nothing = Tensor::of<double>({2, 1}, {0, std::nan("")});
  expect_error(error_of([&] { fit_ridge_regression(nothing, nothing, 1); }), "no single answer");
  const LinearScores scores = fit_ridge_regression(same, numbers, 1);
  expect_error(error_of([&] { scores(numbers); }), "asked with 1");
}

BOOST_AUTO_TEST_CASE(a_regression_that_takes_too_much_memory_is_refused) {
  const std::int64_t most = 16'384;
  const auto error = [](std::int64_t rows, std::int64_t columns, bool passthrough) {
    const EnsemblePlan plan{
        .networks = {MemberNetwork{{.inputs = {input({columns})}, .outputs = {}}, {}}},
        .options = {.members = 2, .passthrough = passthrough},
        .fit = {},
        .examples = {Tensor::zeros(DType::uint8, {rows, columns}), Tensor::zeros(DType::uint8, {rows})}};
    return error_of([&] { check_regression(plan, {DType::float32, Shape{-1, 1}}); });
  };
  BOOST_TEST(error(most, most, true) == "");
  BOOST_TEST(error(most + 1, most - 2, true) == "");
  BOOST_TEST(error(most + 1, most, false) == "");
  expect_error(error(most + 1, most, true), "has 16386 features of 16385 examples");
}

BOOST_AUTO_TEST_CASE(a_hard_vote_has_no_probabilities) {
  const auto [x, y] = three_clouds(30, 1);
  const Model model = small_model(3);
  Ensemble hard = ensemble(model, {.members = 2, .vote = Vote::hard});
  expect_error(error_of([&, &x = x] { hard.predict(x); }), "call fit() or load() first");
  hard.fit({x, y}, quiet(1));
  BOOST_TEST(hard.predict(x).describe() == "int64[30]");
  expect_error(error_of([&, &x = x] { hard.predict_proba(x); }), "a hard vote has no probabilities");
}

BOOST_AUTO_TEST_SUITE_END()
