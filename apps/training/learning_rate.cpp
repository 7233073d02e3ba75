#include "apps/training/learning_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "actors/client/session.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

using RateOfStep = std::pair<std::int64_t, double>;

// At the first step, the last one, and evenly between: a schedule's highest rate is near one of them.
std::vector<RateOfStep> rates_of(const LearningRateSchedule& schedule, std::int64_t steps) {
  constexpr std::int64_t parts = 100;
  Graph graph;
  const Output step = graph.placeholder(DType::int64, {}, "step");
  const Output rate = cast(schedule(step), DType::float64);
  Session session(graph);
  std::vector<RateOfStep> rates;
  for (std::int64_t part = 0; part <= parts; ++part) {
    const std::int64_t at = (steps - 1) * part / parts;
    if (rates.empty() || at > rates.back().first)
      rates.emplace_back(at, session.run(rate, {{step, Tensor::scalar(at)}}).scalar<double>());
  }
  return rates;
}

std::string describe_schedule(std::span<const RateOfStep> rates) {
  const auto highest = *std::ranges::max_element(rates, {}, &RateOfStep::second);
  const double first = rates.front().second, last = rates.back().second;
  const bool has_peak = highest.second > std::max(first, last);
  if (!has_peak && first == last) return fmt::format("{:.3g}", first);
  return fmt::format(
      "{:.3g} at first{} and {:.3g} at the end", first,
      has_peak ? fmt::format(", {:.3g} after {} steps", highest.second, highest.first) : "", last);
}

// The optimizer of a variable of this shape.
Optimizer optimizer_of(const OptimizerChoice& choice, const Shape& shape) {
  Graph graph;
  return choice.of(graph.variable("weights", fill(graph, shape, 0)));
}

std::string of_both(const std::string& matrices, const std::string& others) {
  if (matrices == others) return matrices;
  return fmt::format("{} of matrices and {} of other variables", matrices, others);
}

}  // namespace

std::string describe_optimizer_of(const TrainOptions& options) {
  return of_both(optimizer_of(options.optimizer, {1, 1}).name(),
                 optimizer_of(options.optimizer, {1}).name());
}

std::string describe_learning_rate(const TrainOptions& options) {
  if (options.learning_rate)
    return describe_schedule(rates_of(options.learning_rate, options.train_steps));
  const auto rate = [&options](const Shape& shape) {
    return fmt::format("{:.3g}", optimizer_of(options.optimizer, shape).hyperparameters()[0]);
  };
  return of_both(rate({1, 1}), rate({1}));
}

}  // namespace actorflow
