// Lloyd's k-means of points of 20 doubles: rows of the centres' coordinates.
#pragma once

#include <algorithm>
#include <limits>

#include "actors/jobs/job.h"
#include "dataflow/values/error.h"

namespace actorflow {

using ClusterPoint = std::array<double, 20>;

// The points nearest to a centre: their sum, and how many they are.
struct ClusterMean {
  ClusterPoint sum{};
  std::int64_t n = 0;

  void operator+=(const ClusterMean& other) {
    for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += other.sum[d];
    n += other.n;
  }
};
using ClusterMeans = std::vector<ClusterMean>;  // by centre

inline double squared_distance(const ClusterPoint& a, const ClusterPoint& b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

inline std::size_t nearest_centre(const std::vector<ClusterPoint>& centres, const ClusterPoint& p) {
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < centres.size(); ++i)
    if (const double d = squared_distance(centres[i], p); d < least) {
      least = d;
      nearest = i;
    }
  return nearest;
}

inline void k_means(Job& job) {
  auto points = job.read_records<ClusterPoint>(job.param("input")).cache();
  const auto k = job.param<std::size_t>("k", 16);
  if (k == 0) throw invalid_argument("--k: expected 1 or more, got 0");
  const int rounds = job.param("rounds", 10);
  const std::string start = job.param("start", "");
  std::vector<ClusterPoint> centres =
      start.empty() ? points.sample(k, 1).collect() : job.read_records<ClusterPoint>(start).collect();
  if (centres.empty())
    throw invalid_argument(start.empty() ? "the input has no point" : "--start has no point");
  for (int round = 0; round < rounds; ++round) {
    const ClusterMeans means = points.fold(
        ClusterMeans(centres.size()),
        [centres](ClusterMeans& sums, const ClusterPoint& p) {
          sums[nearest_centre(centres, p)] += {p, 1};
        },
        [](ClusterMeans& sums, const ClusterMeans& others) {
          for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += others[i];
        });
    if (std::ranges::all_of(means, [](const ClusterMean& mean) { return mean.n == 0; }))
      throw invalid_argument("the input has no point");
    for (std::size_t i = 0; i < centres.size(); ++i)
      for (std::size_t d = 0; d < centres[i].size() && means[i].n > 0; ++d)
        centres[i][d] = means[i].sum[d] / static_cast<double>(means[i].n);
  }
  job.from(centres).write_csv(job.param("output"));
}

}  // namespace actorflow
