// Logistic regression by gradient descent, of records of 20 doubles and a label, 0 or 1: one row, the
// weights and last the bias.
//
//   logistic_regression --input points --output weights --rounds 50 --rate 0.5
#include <cmath>

#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

struct Example {
  std::array<double, 20> x;
  double label;
};

struct Gradient {
  std::array<double, 21> sum{};
  std::int64_t count = 0;

  friend Gradient operator+(Gradient a, const Gradient& b) {
    for (std::size_t i = 0; i < a.sum.size(); ++i) a.sum[i] += b.sum[i];
    a.count += b.count;
    return a;
  }
};

void logistic_regression(Job& job) {
  const auto examples = job.read_records<Example>(job.param("input")).cache();
  const double rate = job.param("rate", 0.5);
  std::array<double, 21> w{};
  for (int round = 0; round < job.param("rounds", 50); ++round) {
    const auto add = [w](Gradient& g, const Example& e) {
      double z = w[20];
      for (std::size_t i = 0; i < 20; ++i) z += w[i] * e.x[i];
      const double error = 1 / (1 + std::exp(-z)) - e.label;
      for (std::size_t i = 0; i < 20; ++i) g.sum[i] += error * e.x[i];
      g.sum[20] += error;
      ++g.count;
    };
    const Gradient g = examples.fold(Gradient(), add, std::plus<>());
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= rate * g.sum[i] / static_cast<double>(g.count);
  }
  job.from(std::vector{w}).write_csv(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) {
  return run_jobs(argc, argv, {{"logistic_regression", logistic_regression}});
}
