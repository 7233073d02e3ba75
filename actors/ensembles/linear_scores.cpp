#include "actors/ensembles/linear_scores.h"

#include <fmt/format.h>

#include <vector>

#include "dataflow/values/error.h"

namespace actorflow {

Tensor LinearScores::operator()(const Tensor& features) const {
  const std::int64_t rows = features.shape()[0], count = weights.shape()[0],
                     outputs = weights.shape()[1];
  if (features.shape()[1] != count || bias.elements() != outputs)
    throw Error(
        Code::failed_precondition,
        fmt::format("stacking: the regression has learned from {} columns for {} outputs, but is "
                    "asked with {} for {}; was it saved with other inputs, or passthrough?",
                    count, outputs, features.shape()[1], bias.elements()));
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
