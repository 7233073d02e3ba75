// How often each word occurs in some texts: rows "word,count".
#pragma once

#include "actors/jobs/job.h"

namespace actorflow {

inline void word_count(Job& job) {
  job.read_text(job.param("input"))
      .flat_map(words)
      .map([](auto word) {
        return std::pair{word, std::int64_t{1}};
      })
      .reduce_by_key(std::plus<>{})
      .write_csv(job.param("output"));
}

}  // namespace actorflow
