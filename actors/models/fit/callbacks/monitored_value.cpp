#include "actors/models/fit/callbacks/monitored_value.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>

namespace actorflow {
namespace {

bool grows(const std::string& name) {
  constexpr std::array<std::string_view, 6> growing = {"accuracy", "auc",      "precision",
                                                       "recall",   "f1_score", "r2_score"};
  return std::ranges::any_of(growing, [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace

MonitoredValue::MonitoredValue(std::string name, Better better, double min_delta)
    : name_(std::move(name)),
      larger_(better == Better::larger || (better == Better::automatic && grows(name_))),
      min_delta_(std::abs(min_delta)) {}

std::optional<double> MonitoredValue::find(const FitContext& training, const Logs& logs) {
  const auto value = logs.find(name_);
  if (!value && !warned_ && !training.measures(name_)) {
    spdlog::warn("'{}' is not measured, so nothing follows from it; there are: {}", name_, logs.names());
    warned_ = true;
  }
  return value;
}

bool MonitoredValue::is_better(double value, std::optional<double> than) const {
  if (std::isnan(value)) return false;
  return !than || (larger_ ? value > *than + min_delta_ : value < *than - min_delta_);
}

void MonitoredValue::keep_in(CallbackState& state) const {
  if (best_) state["best"] = Tensor::scalar(*best_);
}

void MonitoredValue::restore(const CallbackState& state) {
  const auto best = state.find("best");
  best_ = best == state.end() ? std::nullopt : std::optional(best->second.scalar<double>());
}

bool MonitoredValue::improve(double value) {
  if (!is_better(value)) return false;
  best_ = value;
  return true;
}

}  // namespace actorflow
