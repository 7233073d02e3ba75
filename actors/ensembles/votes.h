// What members predict, joined into one answer. All sums are of float64, in the order of the members.
#pragma once

#include <cstdint>
#include <vector>

#include "dataflow/values/tensor.h"

namespace actorflow {

// What members predict for the same examples, with the weight of each.
struct Predictions {
  std::vector<Tensor> outputs;
  std::vector<double> weights;
};

// float64 [n, classes] of logits [n, classes]; of [n] or [n, 1], the logits of class 1, [n, 2].
Tensor probabilities_of(const Tensor& logits);
// The classes of the largest values of the rows, int64 [n]; of equal ones the first.
Tensor largest(const Tensor& rows);
// The weighted mean, float64.
Tensor mean_of(const Predictions& predictions);
// The mean of the probabilities of all logits.
Tensor soft_vote(const Predictions& logits);
// For each row the class that most of the weight is for, int64 [n]; of several the smallest.
Tensor hard_vote(const Predictions& logits);
// Probabilities side by side, as features: float64 [n, sum of the columns].
Tensor side_by_side(const std::vector<Tensor>& tables);

double accuracy_of(const Tensor& classes, const std::vector<std::int64_t>& labels);
double mean_squared_error_of(const Tensor& predicted, const Tensor& expected);

}  // namespace actorflow
