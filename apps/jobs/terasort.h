// Sorts records of 100 bytes by their first 10, as the sort benchmark does (sortbenchmark.org). gensort
// makes some.
#pragma once

#include "actors/jobs/job.h"

namespace actorflow {

struct SortRow {
  std::array<std::uint8_t, 10> key;
  std::array<std::uint8_t, 90> rest;
};

inline void terasort(Job& job) {
  job.read_records<SortRow>(job.param("input"))
      .sort_by(&SortRow::key)
      .write_records(job.param("output"));
}

}  // namespace actorflow
