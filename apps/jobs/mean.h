// The mean of the numbers in some files, one in a line: printed, or, with --output, a row "mean,count".
#pragma once

#include <iostream>

#include "actors/jobs/job.h"

namespace actorflow {

struct NumberSum {
  double sum = 0;
  std::int64_t count = 0;

  friend NumberSum operator+(NumberSum a, const NumberSum& b) {
    return {a.sum + b.sum, a.count + b.count};
  }
};

inline void mean_of_numbers(Job& job) {
  const auto numbers = job.read_csv<std::tuple<double>>(job.param("input"));
  const NumberSum all = numbers.fold(
      NumberSum(),
      [](NumberSum sum, const auto& row) {
        return sum + NumberSum{std::get<0>(row), 1};
      },
      std::plus<>());
  if (all.count == 0) throw Error(Code::invalid_argument, "the input has no number");
  const double mean = all.sum / static_cast<double>(all.count);
  if (const std::string output = job.param("output", ""); !output.empty())
    job.from(std::vector{std::pair{mean, all.count}}).write_csv(output);
  else if (job.coordinates())
    std::cout << mean << " is the mean of " << all.count << " numbers\n";
}

}  // namespace actorflow
