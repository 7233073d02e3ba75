#include "dataflow/values/spelling.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace actorflow {
namespace {

// Levenshtein's distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  const auto distance = [name](std::string_view other) { return edit_distance(name, other); };
  const auto nearest = std::ranges::min_element(known, {}, distance);
  if (nearest == known.end() || distance(*nearest) > std::max<std::size_t>(2, name.size() / 3))
    return {};
  return "; did you mean '" + std::string(*nearest) + "'?";
}

}  // namespace actorflow
