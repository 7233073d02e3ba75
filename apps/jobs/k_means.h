// Lloyd's k-means of points of 20 doubles: rows of the centres' coordinates.
#pragma once

#include "actors/jobs/job.h"
#include "schema/records/nearest.h"

namespace actorflow {

using ClusterPoint = std::array<double, 20>;

inline void k_means(Job& job) {
  const auto points = job.read_records<ClusterPoint>(job.param("input")).cache();
  const auto k = static_cast<std::size_t>(job.count_param("k", 16));
  const auto rounds = job.count_param("rounds", 10);
  const std::string start = job.param("start", ""), output = job.param("output");
  std::vector<ClusterPoint> centres =
      start.empty() ? points.sample(k, 1).collect() : job.read_records<ClusterPoint>(start).collect();
  if (centres.empty())
    throw invalid_argument(start.empty() ? "the input has no point" : "--start has no point");
  if (start.empty() && centres.size() < k)
    throw invalid_argument("--k: expected at most the number of points, " +
                           std::to_string(centres.size()) + ", got " + std::to_string(k));
  for (std::int64_t round = 0; round < rounds; ++round) {
    const auto add = [centres](auto& means, const ClusterPoint& p) {
      means[nearest_of(centres, p)].add(p);
    };
    const auto means = points.fold(std::vector<MeanOf<ClusterPoint>>(centres.size()), add, AddFields());
    if (std::ranges::all_of(means, [](const auto& mean) { return mean.count == 0; }))
      throw invalid_argument("the input has no point");
    for (std::size_t i = 0; i < centres.size(); ++i)
      if (means[i].count > 0) centres[i] = means[i].value();
  }
  job.from(centres).write_csv(output);
}

}  // namespace actorflow
