// The mean of the numbers in some files, one in a line.
//
//   mean --input numbers.txt
#include <iostream>

#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

struct Sum {
  double sum = 0;
  std::int64_t count = 0;

  friend Sum operator+(Sum a, const Sum& b) { return {a.sum + b.sum, a.count + b.count}; }
};

void mean(Job& job) {
  const auto numbers = job.read_csv<std::tuple<double>>(job.param("input"));
  const Sum all = numbers.fold(
      Sum(),
      [](Sum sum, const auto& row) {
        return sum + Sum{std::get<0>(row), 1};
      },
      std::plus<>());
  if (all.count == 0) throw Error(Code::invalid_argument, "the input has no number");
  std::cout << all.sum / static_cast<double>(all.count) << " is the mean of " << all.count
            << " numbers\n";
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"mean", mean}}); }
