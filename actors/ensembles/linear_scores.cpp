#include "actors/ensembles/linear_scores.h"

#include <vector>

namespace actorflow {

Tensor LinearScores::operator()(const Tensor& features) const {
  const std::int64_t rows = features.shape()[0], count = weights.shape()[0],
                     outputs = weights.shape()[1];
  const auto x = features.values<double>(), w = weights.values<double>(), b = bias.values<double>();
  std::vector<double> scores;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < outputs; ++k) {
      double sum = b[k];
      for (std::int64_t f = 0; f < count; ++f) sum += x[row * count + f] * w[f * outputs + k];
      scores.push_back(sum);
    }
  return Tensor::of<double>({rows, outputs}, scores);
}

}  // namespace actorflow
