// Lloyd's k-means of points of 20 doubles: rows of the centres' coordinates.
//
//   k_means --input points.bin --output centres --k 16 --rounds 10 [--start centres.bin]
#include <limits>

#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

using Point = std::array<double, 20>;

struct Mean {
  Point sum{};
  std::int64_t n = 0;
};

void add(Mean& mean, const Point& p) {
  for (std::size_t d = 0; d < p.size(); ++d) mean.sum[d] += p[d];
  ++mean.n;
}

void merge(Mean& mean, const Mean& other) {
  for (std::size_t d = 0; d < other.sum.size(); ++d) mean.sum[d] += other.sum[d];
  mean.n += other.n;
}

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
    auto means = points.map([centres](const Point& p) {
                         return std::pair{nearest(centres, p), p};
                       })
                     .fold_by_key(Mean(), add, merge);
    for (auto& [i, mean] : means.collect())
      for (std::size_t d = 0; d < mean.sum.size(); ++d)
        centres[i][d] = mean.sum[d] / static_cast<double>(mean.n);
  }
  job.from(centres).write_csv(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"k_means", k_means}}); }
