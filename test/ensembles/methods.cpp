// What ensembles learn, by each method.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <mutex>
#include <set>

#include "actors/ensembles/ensemble.h"
#include "actors/ensembles/ensemble_plan.h"
#include "actors/input/rows.h"
#include "actors/jobs/job.h"
#include "actors/models/fit/callbacks.h"
#include "dataflow/values/error.h"
#include "kernels/ops/learning_rate.h"
#include "test/ensembles/support/flowers.h"

BOOST_AUTO_TEST_SUITE(methods)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Weights = std::map<std::string, Tensor>;

bool same(const Weights& a, const Weights& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && identical(x.second, y.second);
  });
}

bool same_weights(const Ensemble& a, const Ensemble& b) {
  if (a.members() != b.members()) return false;
  return std::ranges::all_of(a.members(),
                             [&](int member) { return same(a.weights(member), b.weights(member)); });
}

// 64 points, whose order says nothing.
TrainingData parabola() {
  std::vector<float> x, y;
  for (int i = 0; i < 64; ++i) {
    x.push_back(static_cast<float>(i * 37 % 64) / 32 - 1);
    y.push_back(x.back() * x.back());
  }
  return {Tensor::of<float>({64, 1}, x), Tensor::of<float>({64, 1}, y)};
}

Model model_of_numbers() {
  Model model = sequential({dense(8, tanh), dense(1)});
  model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.02}});
  return model;
}

double mean_of_members(const EnsembleScore& score) { return score.ensemble - score.gain(); }

}  // namespace

BOOST_AUTO_TEST_CASE(members_differ_by_their_seed_and_vote_better_than_they_do_in_the_mean) {
  const auto [x, y] = three_clouds(150, 1);
  const auto [test_x, test_y] = three_clouds(600, 2);
  const Model model = small_model(3);
  Ensemble eight = ensemble(model, {.members = 8});
  eight.fit({x, y}, quiet(10));
  BOOST_TEST(eight.members().size() == 8u);
  BOOST_TEST(!same(eight.weights(0), eight.weights(1)));
  const EnsembleScore score = eight.evaluate({test_x, test_y});
  BOOST_TEST(score.metric == "accuracy");
  BOOST_TEST(score.members.size() == 8u);
  BOOST_TEST(score.ensemble > 0.75);
  BOOST_TEST(score.gain() >= -0.01);
  BOOST_TEST(eight.histories().size() == 8u);
  BOOST_TEST(eight.histories()[3].of("loss").size() == 10u);
  BOOST_TEST(eight.predict(test_x).describe() == "int64[600]");
  BOOST_TEST(eight.predict_proba(test_x).describe() == "float64[600,3]");
}

BOOST_AUTO_TEST_CASE(a_member_is_the_model_with_its_seed_trained_alone) {
  const auto [x, y] = three_clouds(60, 1);
  Model model = small_model(3);
  Ensemble two = ensemble(model, {.members = 2});
  two.fit({x, y}, quiet(2));
  CompileOptions second = model.compile_options();
  second.seed += 1;
  Model alone(model.architecture());
  alone.compile(second);
  alone.fit({x, y}, quiet(2));
  const auto expected = alone.weights();
  for (const auto& [name, tensor] : two.weights(1))
    for (std::int64_t i = 0; i < tensor.elements(); ++i)
      BOOST_TEST(std::abs(tensor.values<float>()[i] - expected.at(name).values<float>()[i]) < 1e-5);
}

BOOST_AUTO_TEST_CASE(ensembles_of_neighbouring_seeds_share_no_sample) {
  constexpr int members = 8;
  std::set<RowNumbers> samples;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const EnsemblePlan plan{
        .networks = {},
        .options = {.members = members, .method = EnsembleMethod::bagging, .seed = seed},
        .fit = {},
        .examples = {Tensor::zeros(DType::float32, {30, 1})}};
    for (const MemberWork& work : plan.work()) samples.insert(plan.learned_rows(work));
  }
  BOOST_TEST(samples.size() == 3u * members);
}

BOOST_AUTO_TEST_CASE(each_member_has_callbacks_of_its_own) {
  const auto [x, y] = three_clouds(60, 1);
  const Model model = small_model(3);
  // A member stops after as many epochs as its number says.
  const auto stops = [](int member) {
    return Callbacks{callback({.on_epoch_end = [member](FitContext& fit, int epoch, Logs&) {
      if (epoch > member) fit.stop();
    }})};
  };
  Ensemble three = ensemble(model, {.members = 3, .callbacks = stops});
  three.fit({x, y}, quiet(5));
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(three.histories()[i].of("loss").size() == i + 1);
}

BOOST_AUTO_TEST_CASE(a_member_learns_from_what_is_made_of_its_own_examples) {
  const auto [x, y] = three_clouds(60, 1);
  const Model model = small_model(3);
  const auto halved = [](const Tuple& examples, std::uint64_t seed) {
    return Dataset::tensors(examples).shuffle({.seed = seed}).take(rows_of(examples) / 2);
  };
  Ensemble of_half = ensemble(model, {.members = 2, .training_data = halved});
  Ensemble again = ensemble(model, {.members = 2, .training_data = halved});
  Ensemble of_all = ensemble(model, {.members = 2});
  for (Ensemble* members : {&of_half, &again, &of_all}) members->fit({x, y}, quiet(2));
  BOOST_TEST(same_weights(of_half, again));
  BOOST_TEST(!same_weights(of_half, of_all));
  Model alone(model.architecture());
  CompileOptions second = model.compile_options();
  second.seed += 1;
  alone.compile(second);
  alone.fit(halved({x, y}, second.seed), quiet(2));
  const auto expected = alone.weights();
  for (const auto& [name, tensor] : of_half.weights(1))
    for (std::int64_t i = 0; i < tensor.elements(); ++i)
      BOOST_TEST(std::abs(tensor.values<float>()[i] - expected.at(name).values<float>()[i]) < 1e-5);
}

// The steps of which schedules are made for the members, and their folds, of 60 examples in two epochs.
std::multiset<std::int64_t> steps_of_schedules(EnsembleOptions options) {
  std::mutex mutex;
  std::multiset<std::int64_t> all;
  options.learning_rate = [&](std::int64_t steps) -> LearningRateSchedule {
    const std::lock_guard lock(mutex);
    all.insert(steps);
    return [](Output step) { return exponential_decay(0.02, step, 10, 0.5); };
  };
  const Labelled data = three_clouds(60, 1);
  const Model model = small_model(3);
  Ensemble members = ensemble(model, options);
  members.fit({data.x, data.y}, quiet(2, 10));
  return all;
}

BOOST_AUTO_TEST_CASE(a_schedule_is_of_the_steps_that_a_member_makes) {
  using Steps = std::multiset<std::int64_t>;
  BOOST_TEST((steps_of_schedules({.members = 2}) == Steps{12, 12}));
  BOOST_TEST(
      (steps_of_schedules({.members = 2, .method = EnsembleMethod::bagging, .max_samples = 0.5}) ==
       Steps{6, 6}));
  BOOST_TEST((steps_of_schedules({.members = 2, .method = EnsembleMethod::stacking, .folds = 4}) ==
              Steps{10, 10, 10, 10, 10, 10, 10, 10, 12, 12}));
}

BOOST_AUTO_TEST_CASE(a_schedule_of_the_ensemble_takes_the_place_of_the_model_s) {
  const auto [x, y] = three_clouds(60, 1);
  const auto of_steps = [](std::int64_t steps) -> LearningRateSchedule {
    return [steps](Output step) { return exponential_decay(0.1, step, steps, 0.5); };
  };
  const Model model = small_model(3);
  Model scheduled(model.architecture());
  CompileOptions with_schedule = model.compile_options();
  with_schedule.learning_rate = of_steps(12);
  scheduled.compile(with_schedule);
  Ensemble own = ensemble(model, {.members = 2, .learning_rate = of_steps});
  Ensemble expected = ensemble(scheduled, {.members = 2});
  Ensemble constant = ensemble(model, {.members = 2});
  for (Ensemble* members : {&own, &expected, &constant}) members->fit({x, y}, quiet(2, 10));
  BOOST_TEST(same_weights(own, expected));
  BOOST_TEST(!same_weights(own, constant));
}

BOOST_AUTO_TEST_CASE(threads_and_runs_change_no_bit) {
  const auto [x, y] = three_clouds(60, 1);
  const Model model = small_model(3);
  Ensemble first = ensemble(model, {.members = 4, .method = EnsembleMethod::bagging});
  first.fit({x, y}, quiet(2));
  for (const std::size_t threads : {1, 3}) {
    Ensemble again = ensemble(model, {.members = 4, .method = EnsembleMethod::bagging});
    JobOptions options;
    options.threads = threads;
    Job job(options);
    again.fit({x, y}, quiet(2), job);
    BOOST_TEST(same_weights(first, again));
    BOOST_TEST(identical(first.predict_proba(x), again.predict_proba(x, job)));
    BOOST_TEST(*first.oob_score() == *again.oob_score());
  }
}

BOOST_AUTO_TEST_CASE(out_of_bag_is_near_the_test_at_100_members) {
  const auto [x, y] = three_clouds(150, 1);
  const auto [test_x, test_y] = three_clouds(600, 2);
  const Model model = small_model(3, 4, 0.05);
  for (const Vote vote : {Vote::soft, Vote::hard}) {
    Ensemble hundred =
        ensemble(model, {.members = 100, .method = EnsembleMethod::bagging, .vote = vote});
    hundred.fit({x, y}, quiet(3));
    const double test = hundred.evaluate({test_x, test_y}).ensemble;
    BOOST_TEST_REQUIRE(hundred.oob_score().has_value());
    BOOST_TEST(std::abs(*hundred.oob_score() - test) < 0.1);
    BOOST_TEST(test > 0.7);
  }
}

BOOST_AUTO_TEST_CASE(stacking_learns_iris_from_probabilities_and_from_inputs_too) {
  const auto [x, y] = flowers(0, true);
  const auto [test_x, test_y] = flowers(0, false);
  const Model narrow = small_model(3, 6), wide = small_model(3, 12);
  for (const bool passthrough : {false, true}) {
    Ensemble stack = ensemble(
        {narrow, wide}, {.method = EnsembleMethod::stacking, .folds = 5, .passthrough = passthrough});
    stack.fit({x, y}, quiet(20));
    BOOST_TEST(stack.members().size() == 2u);
    BOOST_TEST(stack.evaluate({test_x, test_y}).ensemble > 0.8);
    BOOST_TEST(stack.predict_proba(test_x).describe() == "float64[50,3]");
  }
}

BOOST_AUTO_TEST_CASE(models_may_have_several_inputs) {
  const auto [x, y] = three_clouds(150, 1);
  const auto [test_x, test_y] = three_clouds(300, 2);
  const Model model = model_of_two_inputs(3);
  for (const EnsembleOptions& options :
       {EnsembleOptions{.members = 3, .method = EnsembleMethod::bagging},
        EnsembleOptions{.members = 2, .method = EnsembleMethod::stacking, .passthrough = true}}) {
    Ensemble members = ensemble(model, options);
    members.fit({columns_of(x), {y}}, quiet(10));
    const EnsembleScore score = members.evaluate({columns_of(test_x), {test_y}});
    BOOST_TEST(score.ensemble > 0.7);
    BOOST_TEST(identical(score.predicted, members.predict(columns_of(test_x))));
    BOOST_TEST(members.predict_proba(columns_of(test_x)).describe() == "float64[300,3]");
  }
}

BOOST_AUTO_TEST_CASE(snapshots_are_of_the_ends_of_cycles) {
  const auto [x, y] = three_clouds(150, 1);
  const auto [test_x, test_y] = three_clouds(600, 2);
  const Model model = small_model(3, 16, 0.1);
  Ensemble five = ensemble(model, {.members = 5, .method = EnsembleMethod::snapshot});
  five.fit({x, y}, quiet(25));
  const EnsembleScore score = five.evaluate({test_x, test_y});
  BOOST_TEST(score.members.size() == 5u);
  for (const double member : score.members) BOOST_TEST(member > 0.75);
  BOOST_TEST(score.ensemble > 0.75);
  BOOST_TEST(five.histories()[0].logs.size() == 5u);  // epochs of a cycle
  BOOST_TEST(!same(five.weights(3), five.weights(4)));
}

// Of 60 examples the first 30, as a part and alone.
BOOST_AUTO_TEST_CASE(cycles_of_snapshots_have_the_steps_that_training_makes) {
  const Labelled all = three_clouds(60, 1), half = three_clouds(30, 1);
  const Model model = small_model(3);
  const EnsembleOptions snapshots{.members = 2, .method = EnsembleMethod::snapshot};
  FitOptions fit = quiet(4, 10);
  fit.shuffle = false;
  Ensemble expected = ensemble(model, snapshots);
  expected.fit({half.x, half.y}, fit);

  EnsembleOptions of_half = snapshots;
  of_half.training_data = [](const Tuple& examples, std::uint64_t) {
    return Dataset::tensors(examples).take(rows_of(examples) / 2);
  };
  Ensemble made = ensemble(model, of_half);
  made.fit({all.x, all.y}, fit);
  BOOST_TEST(same_weights(made, expected));

  fit.validation_split = 0.5;
  Ensemble without_the_rest = ensemble(model, snapshots);
  without_the_rest.fit({all.x, all.y}, fit);
  BOOST_TEST(same_weights(without_the_rest, expected));
}

BOOST_AUTO_TEST_CASE(members_learn_on_the_frozen_layers_of_their_model) {
  const auto [x, y] = three_clouds(60, 1);
  Model model = small_model(3);
  model.fit({x, y}, quiet(2));
  const Weights trained = model.weights();
  model.get_layer("dense").set_trainable(false);
  for (const EnsembleMethod method : {EnsembleMethod::full_data, EnsembleMethod::bagging,
                                      EnsembleMethod::stacking, EnsembleMethod::snapshot}) {
    Ensemble two = ensemble(model, {.members = 2, .method = method});
    two.fit({x, y}, quiet(2));
    for (const int member : two.members()) {
      for (const char* name : {"dense/weights", "dense/biases"})
        BOOST_TEST(identical(two.weights(member).at(name), trained.at(name)), name);
      BOOST_TEST(!identical(two.weights(member).at("dense_1/weights"), trained.at("dense_1/weights")));
    }
  }
}

BOOST_AUTO_TEST_CASE(numbers_are_joined_by_their_mean) {
  const Model model = model_of_numbers();
  Ensemble four = ensemble(model, {.members = 4, .method = EnsembleMethod::bagging});
  const TrainingData data = parabola();
  four.fit(data, quiet(40));
  BOOST_TEST((four.vote() == Vote::mean));
  const EnsembleScore score = four.evaluate(data);
  BOOST_TEST(score.metric == "mean_squared_error");
  BOOST_TEST(score.gain() >= 0);  // the mean is never worse (Krogh and Vedelsby 1995)
  BOOST_TEST(score.ensemble < mean_of_members({"accuracy", score.ensemble, score.members}) + 1e-12);
  BOOST_TEST(four.oob_score().has_value());
}

BOOST_AUTO_TEST_CASE(numbers_are_joined_by_a_regression) {
  const Model model = model_of_numbers();
  for (const bool passthrough : {false, true}) {
    Ensemble stack =
        ensemble(model, {.members = 2, .method = EnsembleMethod::stacking, .passthrough = passthrough});
    stack.fit(parabola(), quiet(40, 8));
    const EnsembleScore score = stack.evaluate(parabola());
    BOOST_TEST(score.metric == "mean_squared_error");
    BOOST_TEST(score.ensemble < 0.02);  // the variance is 0.09
    BOOST_TEST(score.predicted.describe() == "float64[64,1]");
  }
}

BOOST_AUTO_TEST_SUITE_END()
