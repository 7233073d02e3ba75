// Of rows "key,number" the --k largest numbers of each key, with their place, their rank (equal numbers
// have one), the sum so far and the number before: "key,number,place,rank,sum,before". With --divide_by
// NAME in a folder NAME=key for each key, without the key.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "actors/jobs/job.h"

namespace actorflow {

inline void ranked_rows(Job& job) {
  const std::int64_t k = job.count_param("k", 10);
  const std::string column = job.param("divide_by", "");
  const std::identity number;
  const auto ranked = job.read_csv<std::pair<std::string_view, std::int64_t>>(job.param("input"))
                          .sort_values_by(number, SortOrder::descending)
                          .window(row_number(), rank_by(number), running_sum(number), lag(number))
                          .filter_values([k](const auto& row) { return std::get<1>(row) <= k; });
  if (column.empty())
    ranked.write_csv(job.param("output"));
  else
    ranked.write_csv_by_key(job.param("output"), column);
}

}  // namespace actorflow
