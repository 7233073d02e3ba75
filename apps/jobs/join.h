// Joins two files of rows "key,value" by key: rows "key,value of the left,value of the right"; or, with
// --kind semi or anti, the rows of the left whose key the right has, or has not.
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
  else if (kind == "semi")
    left.semi_join(right).write_csv(output);
  else if (kind == "anti")
    left.anti_join(right).write_csv(output);
  else
    throw invalid_argument("--kind: expected inner, left, outer, semi or anti, got '" + kind + "'");
}

}  // namespace actorflow
