#include "actors/models/fit/callbacks/monitored_value.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>

namespace actorflow {
namespace {

bool grows(const std::string& name) {
  constexpr std::array<std::string_view, 4> growing = {"accuracy", "auc", "precision", "recall"};
  return std::ranges::any_of(growing, [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace

MonitoredValue::MonitoredValue(std::string name, Better better, double min_delta)
    : name_(std::move(name)),
      larger_(better == Better::larger || (better == Better::automatic && grows(name_))),
      min_delta_(std::abs(min_delta)) {}

std::optional<double> MonitoredValue::find(const Logs& logs) {
  const auto value = logs.find(name_);
  if (!value && !warned_) {
    spdlog::warn("'{}' is not measured, so nothing follows from it; there are: {}", name_, logs.names());
    warned_ = true;
  }
  return value;
}

bool MonitoredValue::is_better(double value) const {
  if (std::isnan(value)) return false;
  return !best_ || (larger_ ? value > *best_ + min_delta_ : value < *best_ - min_delta_);
}

bool MonitoredValue::improve(double value) {
  if (!is_better(value)) return false;
  best_ = value;
  return true;
}

}  // namespace actorflow
