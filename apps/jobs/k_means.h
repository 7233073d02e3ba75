// Lloyd's k-means of points of 20 doubles: rows of the centres' coordinates.
#pragma once

#include <limits>

#include "actors/jobs/job.h"

namespace actorflow {

using ClusterPoint = std::array<double, 20>;

// The first of the centres that are nearest.
inline std::size_t nearest_centre(const std::vector<ClusterPoint>& centres, const ClusterPoint& p) {
  std::pair nearest{std::numeric_limits<double>::infinity(), std::size_t{0}};
  for (std::size_t i = 0; i < centres.size(); ++i) {
    double squares = 0;
    for (std::size_t d = 0; d < p.size(); ++d)
      squares += (centres[i][d] - p[d]) * (centres[i][d] - p[d]);
    if (squares < nearest.first) nearest = {squares, i};
  }
  return nearest.second;
}

inline void k_means(Job& job) {
  const auto points = job.read_records<ClusterPoint>(job.param("input")).cache();
  const auto k = static_cast<std::size_t>(job.count_param("k", 16));
  const int rounds = job.param("rounds", 10);
  const std::string start = job.param("start", "");
  std::vector<ClusterPoint> centres =
      start.empty() ? points.sample(k, 1).collect() : job.read_records<ClusterPoint>(start).collect();
  if (centres.empty())
    throw invalid_argument(start.empty() ? "the input has no point" : "--start has no point");
  for (int round = 0; round < rounds; ++round) {
    const auto add = [centres](auto& means, const ClusterPoint& p) {
      means[nearest_centre(centres, p)].add(p);
    };
    const auto means = points.fold(std::vector<MeanOf<ClusterPoint>>(centres.size()), add, AddFields());
    if (std::ranges::all_of(means, [](const auto& mean) { return mean.count == 0; }))
      throw invalid_argument("the input has no point");
    for (std::size_t i = 0; i < centres.size(); ++i)
      if (means[i].count > 0) centres[i] = means[i].value();
  }
  job.from(centres).write_csv(job.param("output"));
}

}  // namespace actorflow
