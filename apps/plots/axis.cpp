#include "apps/plots/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace actorflow {
namespace {

// The smallest of 1, 2, 5, 10 times a power of ten that is not below.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

Axis axis_around(const std::vector<double>& values) {
  Axis axis{.low = INFINITY, .high = -INFINITY};
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    axis.low = std::min(axis.low, value);
    axis.high = std::max(axis.high, value);
  }
  if (axis.low > axis.high) return {};
  const double least = std::max(1e-9, 1e-6 * std::max(std::abs(axis.low), std::abs(axis.high)));
  if (axis.high - axis.low >= least) return axis;
  const double margin = std::max(0.5 * std::abs(axis.low), 0.5);
  return {.low = axis.low - margin, .high = axis.high + margin};
}

std::vector<AxisTick> ticks(const Axis& axis, int about) {
  const double step = round_step((axis.high - axis.low) / about);
  std::vector<AxisTick> found;
  if (!std::isfinite(step) || step <= 0) return found;
  const double last = std::floor(axis.high / step + 1e-6);
  for (double number = std::ceil(axis.low / step - 1e-6); number <= last; ++number)
    found.push_back({number * step, short_number(number * step)});
  return found;
}

std::string short_number(double value) { return fmt::format("{:.4g}", value == 0 ? 0.0 : value); }

}  // namespace actorflow
