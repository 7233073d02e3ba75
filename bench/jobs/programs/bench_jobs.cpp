// Jobs that are only measured.
//
//   bench_jobs count_keys --input keys.csv --output counts             rows "key,count"
//   bench_jobs top_numbers --input numbers --output top --k 100 --rounds 10
#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

void count_keys(Job& job) {
  job.read_csv<std::int64_t>(job.param("input"))
      .key_by(std::identity())
      .count_by_key()
      .write_csv(job.param("output"));
}

// In each round the largest numbers below those of the round before.
void top_numbers(Job& job) {
  const auto numbers = job.read_records<double>(job.param("input")).cache();
  const auto k = job.param<std::size_t>("k", 100);
  const int rounds = job.param("rounds", 10);
  std::vector<double> all;
  double bound = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    const auto best = numbers.filter([bound](double x) { return x < bound; }).top(k).collect();
    all.insert(all.end(), best.begin(), best.end());
    bound = all.back();
  }
  job.from(all).write_csv(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) {
  return run_jobs(argc, argv, {{"count_keys", count_keys}, {"top_numbers", top_numbers}});
}
