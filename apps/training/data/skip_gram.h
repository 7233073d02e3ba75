// Examples for skip-gram with negative sampling, from a text: Mikolov et al., Distributed
// Representations of Words and Phrases and their Compositionality (2013), sections 2.2 and 2.3.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "dataflow/values/tensor.h"

namespace actorflow {

// The words of a text, in lower case, that occur `min_count` times or more; rarer ones are left out. Ids
// are ordered by frequency, 0 the most frequent, then by the alphabet.
struct Corpus {
  std::vector<std::string> words;    // by id
  std::vector<std::int64_t> counts;  // by id
  std::vector<std::int64_t> text;    // ids

  Corpus(std::string_view text, std::int64_t min_count);
};

struct SkipGramOptions {
  std::int64_t window = 4;     // words on each side
  std::int64_t negatives = 5;  // words drawn for each true one
  double subsampling = 1e-3;   // words more frequent than this are sometimes skipped
};

// An endless sequence of examples that follows from corpus and seed alone. Not thread-safe.
class SkipGrams {
 public:
  struct Batch {
    Tensor centers;  // int64 [size]
    Tensor targets;  // int64 [size, 1 + negatives]: a word near the center, then others
  };

  // REQUIRES: the corpus outlives this and has two words or more.
  SkipGrams(const Corpus& corpus, const SkipGramOptions& options, std::uint64_t seed);

  Batch next(std::int64_t size);

 private:
  std::int64_t draw(std::int64_t below);
  double draw_unit();
  bool is_skipped(std::int64_t word);
  void next_center();

  const Corpus& corpus_;
  SkipGramOptions options_;
  std::mt19937_64 random_;
  std::vector<double> cumulated_;  // of counts^(3/4), by id: the distribution of negatives
  std::int64_t place_;
  std::vector<std::int64_t> contexts_;  // of the word at place_, still to be taken
};

}  // namespace actorflow
