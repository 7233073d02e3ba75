// The nearest of some points.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace actorflow {

// The place of the first of the points that are nearest to `p` (Euclid's distance). 0 if no distance is
// a number below infinity, also for no points.
template <std::floating_point T, std::size_t dimensions>
std::size_t nearest_of(const std::vector<std::array<T, dimensions>>& points,
                       const std::array<T, dimensions>& p) {
  std::pair nearest{std::numeric_limits<T>::infinity(), std::size_t{0}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    T squares = 0;
    for (std::size_t d = 0; d < dimensions; ++d)
      squares += (points[i][d] - p[d]) * (points[i][d] - p[d]);
    if (squares < nearest.first) nearest = {squares, i};
  }
  return nearest.second;
}

}  // namespace actorflow
