// Data for estimators: 150 iris flowers, and points of a line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/estimator/canned.h"

namespace actorflow::test {

// 120 of the flowers, in an order that the seed chooses, and the other 30.
InputFn training_flowers(std::int64_t batch_size = 16, int num_epochs = 0);
InputFn testing_flowers();
// The four measures.
std::vector<FeatureColumn> flower_columns();
// Hidden layers of 10, 20 and 10 units, Adagrad of 0.05.
DNNClassifierOptions flower_options(RunConfig config);

// y = 2 x + 1 for x evenly from -1 to 1.
InputFn points_of_a_line(std::int64_t batch_size = 10, int num_epochs = 0);
// A linear regressor of them, by gradient descent.
LinearRegressor line_of(RunConfig config);

// The events of a folder: the scalars of this name, by step.
struct Scalar {
  std::int64_t step;
  float value;
  bool operator==(const Scalar&) const = default;
};
std::vector<Scalar> scalars(const std::string& folder, const std::string& name);

}  // namespace actorflow::test
