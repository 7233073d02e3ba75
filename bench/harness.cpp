#include "bench/harness.h"

#include <fmt/format.h>

#include <algorithm>

namespace actorflow::bench {

std::string Bar::to_string() const {
  return fmt::format("{} {}", side == Side::at_least ? ">=" : "<=", ratio);
}

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(q * static_cast<double>(values.size())))];
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

Measurement in_turn(int rounds, const std::function<double()>& ours,
                    const std::function<double()>& baseline) {
  std::vector<double> a, b;
  for (int round = rounds > 1 ? -1 : 0; round < rounds; ++round) {
    const double mine = ours(), other = baseline();
    if (round < 0) continue;
    a.push_back(mine);
    b.push_back(other);
  }
  return {median(a), median(b)};
}

}  // namespace actorflow::bench
