// Texts as sequences of the ids of their words, as TextVectorization of Keras.
//
//   const TextVectorization words = TextVectorization::adapt(reviews, {.length = 100});
//   const Dataset examples = reviews.map(words.of_component(0));
//   Model model = sequential({embedding(words.size(), 16), global_avg_pool(), dense(1)});
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/models/preprocessing/string_lookup.h"

namespace actorflow {

struct TextVectorizationOptions {
  std::int64_t length = 0;      // of each sequence: longer texts are cut, shorter ones padded by 0
  std::size_t component = 0;    // of the data: the number of the tensor that has the texts
  std::int64_t max_tokens = 0;  // the largest size(): the rarest words are left out; 0: no limit
};

// Ids: 0 is padding, 1 any word that is not in the vocabulary, which follows from 2 on. A value, cheap
// to copy, and thread-safe.
class TextVectorization {
 public:
  // The words of the data, as StringLookup::adapt() orders them. Throws invalid_argument for a length
  // below 1, too.
  static TextVectorization adapt(const Dataset& examples, const TextVectorizationOptions& options);
  TextVectorization(StringLookup words, std::int64_t length);

  // The words of a text: ASCII letters in lower case, without ASCII punctuation, between white space.
  static std::vector<std::string> words_of(std::string_view text);

  std::int64_t size() const { return words_.size() + 1; }
  // Its ids are smaller by one. It is what is saved, with StringLookup::save().
  const StringLookup& words() const { return words_; }
  // int64 [..., length] of strings [...]. Throws invalid_argument for another dtype.
  Tensor operator()(const Tensor& texts) const;
  // For Dataset::map(): the same of one component of each element.
  Dataset::Map of_component(std::size_t component) const;

 private:
  StringLookup words_;
  std::int64_t length_;
};

}  // namespace actorflow
