// Logistic regression by gradient descent, of records of 20 doubles and a label, 0 or 1: one row, the
// weights and last the bias.
#pragma once

#include <cmath>

#include "actors/jobs/job.h"
#include "dataflow/values/error.h"

namespace actorflow {

struct LabelledExample {
  std::array<double, 20> x;
  double label;
};

struct LogisticGradient {
  std::array<double, 21> sum{};
  std::int64_t count = 0;

  friend LogisticGradient operator+(LogisticGradient a, const LogisticGradient& b) {
    for (std::size_t i = 0; i < a.sum.size(); ++i) a.sum[i] += b.sum[i];
    a.count += b.count;
    return a;
  }
};

inline void logistic_regression(Job& job) {
  const auto examples = job.read_records<LabelledExample>(job.param("input")).cache();
  const double rate = job.param("rate", 0.5);
  const int rounds = job.param("rounds", 50);
  std::array<double, 21> w{};
  for (int round = 0; round < rounds; ++round) {
    const auto add = [w](LogisticGradient& g, const LabelledExample& e) {
      double z = w[20];
      for (std::size_t i = 0; i < 20; ++i) z += w[i] * e.x[i];
      const double error = 1 / (1 + std::exp(-z)) - e.label;
      for (std::size_t i = 0; i < 20; ++i) g.sum[i] += error * e.x[i];
      g.sum[20] += error;
      ++g.count;
    };
    const LogisticGradient g = examples.fold(LogisticGradient(), add, std::plus<>());
    if (g.count == 0) throw invalid_argument("the input has no example");
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= rate * g.sum[i] / static_cast<double>(g.count);
  }
  job.from(std::vector{w}).write_csv(job.param("output"));
}

}  // namespace actorflow
