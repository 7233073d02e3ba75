// Joins two files of rows "key,value" by key: rows "key,value of the left,value of the right".
#pragma once

#include "actors/jobs/job.h"

namespace actorflow {

using KeyedRow = std::pair<std::string_view, std::string_view>;

inline void join_files(Job& job) {
  const auto left = job.read_csv<KeyedRow>(job.param("left")),
             right = job.read_csv<KeyedRow>(job.param("right"));
  const std::string kind = job.param("kind", "inner"), output = job.param("output");
  if (kind == "inner")
    left.join(right).write_csv(output);
  else if (kind == "left")
    left.left_join(right).write_csv(output);
  else if (kind == "outer")
    left.outer_join(right).write_csv(output);
  else
    throw invalid_argument("--kind: expected inner, left or outer, got '" + kind + "'");
}

}  // namespace actorflow
