// Logistic regression by gradient descent, of records of 20 doubles and a label, 0 or 1: one row, the
// weights and last the bias.
#pragma once

#include <cmath>

#include "actors/jobs/job.h"

namespace actorflow {

struct LabelledExample {
  std::array<double, 20> x;
  double label;
};

using LogisticWeights = std::array<double, 21>;

inline void logistic_regression(Job& job) {
  const auto examples = job.read_records<LabelledExample>(job.param("input")).cache();
  const double rate = job.rate_param("rate", 0.5);
  const auto rounds = job.count_param("rounds", 50);
  const std::string output = job.param("output");
  LogisticWeights w{};
  for (std::int64_t round = 0; round < rounds; ++round) {
    const auto add = [w](auto& gradient, const LabelledExample& e) {
      double z = w[20];
      for (std::size_t i = 0; i < 20; ++i) z += w[i] * e.x[i];
      const double error = 1 / (1 + std::exp(-z)) - e.label;
      for (std::size_t i = 0; i < 20; ++i) gradient.sum[i] += error * e.x[i];
      gradient.sum[20] += error;
      ++gradient.count;
    };
    const auto gradient = examples.fold(MeanOf<LogisticWeights>(), add, AddFields());
    if (gradient.count == 0) throw invalid_argument("the input has no example");
    for (std::size_t i = 0; i < w.size(); ++i)
      w[i] -= rate * gradient.sum[i] / static_cast<double>(gradient.count);
  }
  job.from(std::vector{w}).write_csv(output);
}

}  // namespace actorflow
