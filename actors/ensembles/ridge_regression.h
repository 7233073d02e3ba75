// The regression that joins the members of a stacking ensemble that predict numbers.
#pragma once

#include "actors/ensembles/linear_scores.h"

namespace actorflow {

// Least squares with an L2 penalty, as scikit-learn's Ridge has it: the sum of the squared errors plus
// |weights|^2 / C is made as small as it can be; biases are free. By Cholesky's decomposition in float64
// on the calling thread, of a square matrix with as many rows as there are features or examples,
// whichever are fewer. `expected`: float64 [n, outputs] for features, float64 [n, features].
LinearScores fit_ridge_regression(const Tensor& features, const Tensor& expected, double c);

}  // namespace actorflow
