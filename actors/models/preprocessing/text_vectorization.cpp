#include "actors/models/preprocessing/text_vectorization.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/models/preprocessing/token_counts.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

char in_lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::vector<std::string> TextVectorization::words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  for (const char c : text) {
    if (is_space(c)) end_word();
    if (!is_space(c) && !is_punctuation(c)) word += in_lower_case(c);
  }
  end_word();
  return words;
}

TextVectorization TextVectorization::adapt(const Dataset& examples,
                                           const TextVectorizationOptions& options) {
  if (options.max_tokens < 0 || options.max_tokens == 1 || options.max_tokens == 2)
    throw invalid_argument(
        fmt::format("TextVectorization: expected max_tokens of 3 or more, of which two are padding and "
                    "all other words, or 0, got {}",
                    options.max_tokens));
  const std::int64_t at_most = options.max_tokens == 0 ? 0 : options.max_tokens - 2;
  const auto count_words = [](const std::string& text, const std::function<void(std::string)>& count) {
    for (std::string& word : words_of(text)) count(std::move(word));
  };
  return {StringLookup(most_frequent(examples, options.component, at_most, count_words)),
          options.length};
}

TextVectorization::TextVectorization(StringLookup words, std::int64_t length)
    : words_(std::move(words)), length_(length) {
  if (length < 1)
    throw invalid_argument(
        fmt::format("TextVectorization: expected a length of 1 word or more, got {}", length));
}

Tensor TextVectorization::operator()(const Tensor& texts) const {
  expect_texts("TextVectorization", texts);
  Shape shape = texts.shape();
  shape.push_back(length_);
  Tensor ids = Tensor::zeros(DType::int64, shape);
  auto place = ids.mutable_values<std::int64_t>().begin();
  for (const std::string& text : texts.values<std::string>()) {
    const auto words = words_of(text);
    const auto count = std::min<std::int64_t>(std::ssize(words), length_);
    std::transform(words.begin(), words.begin() + count, place,
                   [this](const std::string& word) { return words_.id_of(word) + 1; });
    place += length_;
  }
  return ids;
}

Dataset::Map TextVectorization::of_component(std::size_t component) const {
  return map_of_component("TextVectorization", component, *this);
}

}  // namespace actorflow
