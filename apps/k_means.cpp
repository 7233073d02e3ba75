// Lloyd's k-means of points of 20 doubles: rows of the centres' coordinates.
//
//   k_means --input points.bin --output centres --k 16 --rounds 10 [--start centres.bin]
#include <limits>

#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

using Point = std::array<double, 20>;

// The points nearest to a centre: their sum, and how many they are.
struct Mean {
  Point sum{};
  std::int64_t n = 0;

  void operator+=(const Mean& other) {
    for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += other.sum[d];
    n += other.n;
  }
};
using Means = std::vector<Mean>;  // by centre

double distance(const Point& a, const Point& b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

std::size_t nearest(const std::vector<Point>& centres, const Point& p) {
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < centres.size(); ++i)
    if (const double d = distance(centres[i], p); d < least) {
      least = d;
      nearest = i;
    }
  return nearest;
}

void k_means(Job& job) {
  auto points = job.read_records<Point>(job.param("input")).cache();
  const auto k = job.param<std::size_t>("k", 16);
  const std::string start = job.param("start", "");
  std::vector<Point> centres =
      start.empty() ? points.sample(k, 1).collect() : job.read_records<Point>(start).collect();
  for (int round = 0; round < job.param("rounds", 10); ++round) {
    const Means means = points.fold(
        Means(centres.size()),
        [centres](Means& sums, const Point& p) {
          sums[nearest(centres, p)] += {p, 1};
        },
        [](Means& sums, const Means& others) {
          for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += others[i];
        });
    for (std::size_t i = 0; i < centres.size(); ++i)
      for (std::size_t d = 0; d < centres[i].size() && means[i].n > 0; ++d)
        centres[i][d] = means[i].sum[d] / static_cast<double>(means[i].n);
  }
  job.from(centres).write_csv(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"k_means", k_means}}); }
