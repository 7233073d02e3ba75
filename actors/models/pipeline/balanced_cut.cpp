#include "actors/models/pipeline/balanced_cut.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "dataflow/values/check.h"

namespace actorflow {
namespace {

class BalancedCut {
 public:
  BalancedCut(std::span<const double> costs, std::span<const std::size_t> allowed) : allowed_(allowed) {
    for (const double cost : costs) sums_.push_back(sums_.back() + cost);
  }

  std::vector<std::size_t> make(int parts) const { return best(0, 0, parts).borders; }

 private:
  struct Found {
    double cost = std::numeric_limits<double>::infinity();
    std::vector<std::size_t> borders;
  };

  double cost(std::size_t from, std::size_t to) const { return sums_[to] - sums_[from]; }

  // Of the works from `first` on; `next` counts the borders in front of them.
  Found best(std::size_t first, std::size_t next, int parts) const {
    if (parts == 1) return {cost(first, sums_.size() - 1), {}};
    auto& known = known_[{next, parts}];
    if (known) return *known;
    Found found;
    for (std::size_t i = next; i + static_cast<std::size_t>(parts) <= allowed_.size() + 1; ++i) {
      Found rest = best(allowed_[i], i + 1, parts - 1);
      const double most = std::max(cost(first, allowed_[i]), rest.cost);
      if (most >= found.cost) continue;
      rest.borders.insert(rest.borders.begin(), allowed_[i]);
      found = {most, std::move(rest.borders)};
    }
    known = found;
    return found;
  }

  const std::span<const std::size_t> allowed_;
  std::vector<double> sums_{0};
  mutable std::map<std::pair<std::size_t, int>, std::optional<Found>> known_;
};

}  // namespace

std::vector<std::size_t> balanced_cut(std::span<const double> costs,
                                      std::span<const std::size_t> allowed, int parts) {
  ACTORFLOW_CHECK(parts >= 1 && static_cast<std::size_t>(parts) <= allowed.size() + 1,
                  "a cut into more parts than there may be");
  return BalancedCut(costs, allowed).make(parts);
}

}  // namespace actorflow
