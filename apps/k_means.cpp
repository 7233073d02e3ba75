// Lloyd's k-means of points of 20 doubles: rows of the centres' coordinates.
//
//   k_means --input points.bin --output centres --k 16 --rounds 10 [--start centres.bin]
#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

using Point = std::array<double, 20>;

struct Mean {
  Point sum;
  std::int64_t n;

  friend Mean operator+(Mean a, const Mean& b) {
    for (std::size_t d = 0; d < a.sum.size(); ++d) a.sum[d] += b.sum[d];
    a.n += b.n;
    return a;
  }
};

double distance(const Point& a, const Point& b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

std::size_t nearest(const std::vector<Point>& centres, const Point& p) {
  return static_cast<std::size_t>(
      std::ranges::min_element(centres, {}, [&](const Point& c) { return distance(c, p); }) -
      centres.begin());
}

void k_means(Job& job) {
  auto points = job.read_records<Point>(job.param("input")).cache();
  const auto k = job.param<std::size_t>("k", 16);
  const std::string start = job.param("start", "");
  std::vector<Point> centres =
      start.empty() ? points.sample(k, 1).collect() : job.read_records<Point>(start).collect();
  for (int round = 0; round < job.param("rounds", 10); ++round) {
    auto means =
        points.map([centres](const Point& p) {
                return std::pair{nearest(centres, p), Mean{p, 1}};
              })
            .reduce_by_key(std::plus<>{});
    for (auto& [i, mean] : means.collect())
      for (std::size_t d = 0; d < mean.sum.size(); ++d)
        centres[i][d] = mean.sum[d] / static_cast<double>(mean.n);
  }
  job.from(centres).write_csv(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"k_means", k_means}}); }
