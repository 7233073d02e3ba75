// A job of scenarios alone, which counts wherever a fault could make something count twice: before a
// shuffle, behind it, in what a sort samples, and after the last file. Rows "word,count", by count.
#pragma once

#include "actors/jobs/job.h"

namespace actorflow {

inline void counted_words(Job& job) {
  const std::string input = job.param("input"), output = job.param("output");
  const Counter lines = job.counter("lines"), distinct = job.counter("distinct words"),
                sorted = job.counter("sorted words"), rare = job.counter("rare words");
  const auto counts = job.read_text(input)
                          .map([lines](std::string_view line) {
                            lines.add();
                            return line;
                          })
                          .flat_map(words)
                          .map([](auto word) {
                            return std::pair{word, std::int64_t{1}};
                          })
                          .reduce_by_key(std::plus<>{})
                          .map([distinct](const auto& count) {
                            distinct.add();
                            return count;
                          })
                          .cache();
  counts
      .map([sorted](const auto& count) {
        sorted.add(count.second);
        return count;
      })
      .sort_by([](const auto& count) { return count.second; })
      .write_csv(output);
  counts
      .filter([rare](const auto& count) {
        if (count.second == 1) rare.add();
        return count.second == 1;
      })
      .count();
}

}  // namespace actorflow
