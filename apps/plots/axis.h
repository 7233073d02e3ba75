// Axes: from values to pixels, and the round numbers that are written beside them.
#pragma once

#include <string>
#include <vector>

namespace actorflow {

// A range of values and where its ends are drawn.
struct Axis {
  double low = 0, high = 1;
  double from = 0, to = 1;  // pixels

  double operator()(double value) const { return from + (to - from) * ((value - low) / (high - low)); }
};

// The smallest range that holds the finite ones of these values; of one value, a range around it; of
// none, 0 to 1.
Axis axis_around(const std::vector<double>& values);

struct AxisTick {
  double value = 0;
  std::string label;
};
// Multiples of 1, 2 or 5 times a power of ten within the axis: about that many.
std::vector<AxisTick> ticks(const Axis& axis, int about = 6);

// A number for a person: 4 significant digits, without trailing zeros.
std::string short_number(double value);

}  // namespace actorflow
