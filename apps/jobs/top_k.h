// The words that occur most often: rows "word,count", the most frequent first.
#pragma once

#include "actors/jobs/job.h"

namespace actorflow {

inline void most_frequent_words(Job& job) {
  job.read_text(job.param("input"))
      .flat_map(words)
      .key_by(std::identity())
      .count_by_key()
      .top(static_cast<std::size_t>(job.count_param("k", 10)),
           [](const auto& word) { return std::pair(word.second, word.first); })
      .write_csv(job.param("output"));
}

}  // namespace actorflow
