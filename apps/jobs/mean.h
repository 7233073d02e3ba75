// The mean of the numbers in some files, one in a line: printed, or, with --output, a row "mean,count".
#pragma once

#include <iostream>

#include "actors/jobs/job.h"

namespace actorflow {

inline void mean_of_numbers(Job& job) {
  const auto numbers = job.read_csv<std::tuple<double>>(job.param("input"));
  const std::string output = job.param("output", "");
  const auto all = numbers.fold(
      MeanOf<double>(), [](auto& mean, const auto& row) { mean.add(std::get<0>(row)); }, AddFields());
  if (all.count == 0) throw Error(Code::invalid_argument, "the input has no number");
  if (!output.empty())
    job.from(std::vector{std::pair{all.value(), all.count}}).write_csv(output);
  else if (job.coordinates())
    std::cout << all.value() << " is the mean of " << all.count << " numbers\n";
}

}  // namespace actorflow
