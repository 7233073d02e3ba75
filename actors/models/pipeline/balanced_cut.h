// The cut of a row of works into consecutive parts of about the same cost.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace actorflow {

// The first works of all parts but the first, such that the most costly part costs least; of several
// such cuts the one whose first borders are lowest, so that equal costs are cut equally everywhere. By
// dynamic programming over (border, parts left): O(allowed^2 * parts) sums. `allowed` are the works with
// which a part may begin, ascending, from 1 on. REQUIRES: 1 <= parts <= allowed.size() + 1; no cost is
// negative.
std::vector<std::size_t> balanced_cut(std::span<const double> costs,
                                      std::span<const std::size_t> allowed, int parts);

}  // namespace actorflow
