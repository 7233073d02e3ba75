#include "dataflow/ops/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"
#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

const std::vector<Optimizer>& built_in() {
  static const std::vector<Optimizer> all = {Sgd{},  Momentum{}, Nesterov{}, Adagrad{},
                                             Adam{}, RmsProp{},  AdamW{},    Lion{},
                                             Ftrl{}, Lamb{},     Muon{}};
  return all;
}

const Optimizer* find_built_in(std::string_view name) {
  const auto found = std::ranges::find(built_in(), name, &Optimizer::name);
  return found == built_in().end() ? nullptr : &*found;
}

// A hyperparameter that is 0 or more, and below a bound.
struct Range {
  std::string_view optimizer;
  std::size_t place;  // among the hyperparameters
  std::string_view name;
  double below = std::numeric_limits<double>::infinity();
};

// With others an update would climb, divide by zero, or take the root of a negative number.
constexpr Range ranges[] = {{Momentum::name, 1, "momentum"},
                            {Nesterov::name, 1, "momentum"},
                            {Adagrad::name, 1, "initial_accumulator"},
                            {Adam::name, 1, "beta1", 1},
                            {Adam::name, 2, "beta2", 1},
                            {Adam::name, 3, "epsilon"},
                            {RmsProp::name, 1, "decay", 1},
                            {RmsProp::name, 2, "momentum"},
                            {RmsProp::name, 3, "epsilon"},
                            {AdamW::name, 1, "beta1", 1},
                            {AdamW::name, 2, "beta2", 1},
                            {AdamW::name, 3, "epsilon"},
                            {Lion::name, 1, "beta1", 1},
                            {Lion::name, 2, "beta2", 1},
                            {Ftrl::name, 1, "initial_accumulator"},
                            {Ftrl::name, 2, "l1"},
                            {Ftrl::name, 3, "l2"},
                            {Lamb::name, 1, "beta1", 1},
                            {Lamb::name, 2, "beta2", 1},
                            {Lamb::name, 3, "epsilon"},
                            {Muon::name, 1, "momentum"}};

void expect_in_range(const std::string& name, const std::vector<double>& values) {
  if (values[0] < 0)
    throw invalid_argument("the learning rate of optimizer '" + name + "' must be 0 or more, got " +
                           std::to_string(values[0]));
  for (const Range& range : ranges) {
    if (range.optimizer != name || range.place >= values.size()) continue;
    const double value = values[range.place];
    if (value >= 0 && value < range.below) continue;
    throw invalid_argument("the " + std::string(range.name) + " of optimizer '" + name +
                           "' must be 0 or more" + (std::isinf(range.below) ? "" : ", and below 1") +
                           ", got " + std::to_string(value));
  }
}

}  // namespace

Optimizer::Optimizer(std::string name, std::vector<double> hyperparameters)
    : name_(std::move(name)), hyperparameters_(std::move(hyperparameters)) {
  if (name_.empty() || hyperparameters_.empty())
    throw invalid_argument("an optimizer needs a name and a learning rate, but '" + name_ + "' has " +
                           std::to_string(hyperparameters_.size()) + " hyperparameters");
  for (std::size_t i = 0; i < hyperparameters_.size(); ++i)
    if (!std::isfinite(hyperparameters_[i]))
      throw invalid_argument("hyperparameter " + std::to_string(i) + " of optimizer '" + name_ +
                             "' must be finite, got " + std::to_string(hyperparameters_[i]));
  expect_in_range(name_, hyperparameters_);
}

void expect_hyperparameters(std::string_view optimizer, std::size_t expected, std::size_t actual) {
  if (actual != expected)
    throw invalid_argument("optimizer '" + std::string(optimizer) + "' has " + std::to_string(expected) +
                           " hyperparameters, got " + std::to_string(actual));
}

std::string optimizer_names() { return joined(built_in(), ", ", &Optimizer::name); }

Optimizer make_optimizer(std::string_view name, double learning_rate) {
  if (const auto* found = find_built_in(name)) return with_learning_rate(*found, learning_rate);
  std::vector<std::string_view> known;
  for (const auto& optimizer : built_in()) known.push_back(optimizer.name());
  throw invalid_argument("unknown optimizer '" + std::string(name) + "'; expected one of " +
                         optimizer_names() + did_you_mean(name, known));
}

Optimizer with_learning_rate(const Optimizer& optimizer, double learning_rate) {
  auto values = optimizer.hyperparameters();
  values[0] = learning_rate;
  return {optimizer.name(), std::move(values)};
}

Optimizer parse_optimizer(std::string_view name, std::span<const double> values) {
  if (const auto* found = find_built_in(name))
    expect_hyperparameters(name, found->hyperparameters().size(), values.size());
  return {std::string(name), {values.begin(), values.end()}};
}

}  // namespace actorflow
