#include "apps/cli/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace actorflow {
namespace {

constexpr std::array<std::string_view, 8> levels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// Of the finite ones; NaN if there are none. Divided first: the sum of huge numbers is not finite.
double mean_of(std::span<const double> values) {
  double sum = 0, count = 0;
  for (const double value : values)
    if (std::isfinite(value)) count += 1;
  for (const double value : values)
    if (std::isfinite(value)) sum += value / count;
  return count > 0 ? sum : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> means_of_parts(std::span<const double> values, std::size_t parts) {
  std::vector<double> means;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = values.size() * part / parts, end = values.size() * (part + 1) / parts;
    means.push_back(mean_of(values.subspan(begin, end - begin)));
  }
  return means;
}

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t width) {
  const auto means = means_of_parts(values, std::min(width, values.size()));
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double mean : means)
    if (std::isfinite(mean)) {
      low = std::min(low, mean);
      high = std::max(high, mean);
    }
  std::string line;
  for (const double mean : means) {
    // Halves: the range of huge numbers is not finite.
    const double range = high / 2 - low / 2;
    const double place = range > 0 ? (mean / 2 - low / 2) / range : 0.5;
    const auto level = static_cast<std::size_t>(place * 7 + (range > 0 ? 0.5 : 0));
    line += std::isfinite(mean) ? levels[std::min<std::size_t>(level, 7)] : "?";
  }
  return line;
}

}  // namespace actorflow
