// The learning rate of a training in words.
#include "apps/training/learning_rate.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/models/images/recipe.h"
#include "kernels/ops/learning_rate.h"

BOOST_AUTO_TEST_SUITE(learning_rate)

using namespace actorflow;

namespace {

std::string described(const LearningRateSchedule& schedule, std::int64_t steps) {
  TrainOptions options;
  options.learning_rate = schedule;
  options.train_steps = steps;
  return describe_learning_rate(options);
}

LearningRateSchedule course(const std::vector<RatePoint>& points, std::int64_t steps) {
  return [=](Output step) { return rate_of_course(0.5, points, step, steps); };
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_an_optimizer) {
  TrainOptions options;
  options.optimizer = Sgd{0.25};
  BOOST_TEST(describe_learning_rate(options) == "0.25");
  BOOST_TEST(describe_optimizer_of(options) == "sgd");
  options.optimizer = muon_for_matrices(Muon{.learning_rate = 0.02}, Adam{0.003});
  BOOST_TEST(describe_learning_rate(options) == "0.02 of matrices and 0.003 of other variables");
  BOOST_TEST(describe_optimizer_of(options) == "muon of matrices and adam of other variables");
}

BOOST_AUTO_TEST_CASE(of_a_schedule) {
  const auto decay = [](Output step) { return exponential_decay(0.5, step, 10, 0.5); };
  BOOST_TEST(described(decay, 11) == "0.5 at first and 0.25 at the end");
  BOOST_TEST(described(decay, 1) == "0.5");
  BOOST_TEST(described(course({{0, 0.2}, {0.25, 1}, {1, 0.1}}, 1000), 1001) ==
             "0.1 at first, 0.5 after 250 steps and 0.05 at the end");
}

BOOST_AUTO_TEST_SUITE_END()
