// The regression that joins the members of a stacking ensemble that name classes.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/ensembles/linear_scores.h"

namespace actorflow {

// Multinomial logistic regression with an L2 penalty, as scikit-learn's LogisticRegression has it: the
// sum of the examples' cross-entropies plus |weights|^2 / (2 C) is made as small as it can be; biases
// are free.
// By L-BFGS (Nocedal 1980) in float64 on the calling thread, until no part of the gradient is above 1e-8
// of the examples' number. `labels` are below `classes`. The scores are logits of the classes.
LinearScores fit_logistic_regression(const Tensor& features, const std::vector<std::int64_t>& labels,
                                     std::int64_t classes, double c);

}  // namespace actorflow
