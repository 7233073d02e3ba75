#include "apps/training/data/skip_gram.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "dataflow/values/check.h"

namespace actorflow {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '\''; }

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < text.size();) {
    std::string word;
    for (; i < text.size() && is_letter(text[i]); ++i)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
    if (!word.empty()) words.push_back(std::move(word));
    while (i < text.size() && !is_letter(text[i])) ++i;
  }
  return words;
}

}  // namespace

Corpus::Corpus(std::string_view source, std::int64_t min_count) {
  const std::vector<std::string> all = words_of(source);
  std::map<std::string, std::int64_t> frequency;
  for (const auto& word : all) ++frequency[word];
  std::vector<std::pair<std::int64_t, std::string>> known;
  for (const auto& [word, count] : frequency)
    if (count >= min_count) known.emplace_back(-count, word);
  std::ranges::sort(known);
  std::map<std::string_view, std::int64_t> ids;
  for (const auto& [count, word] : known) {
    ids[word] = std::ssize(words);
    words.push_back(word);
    counts.push_back(-count);
  }
  for (const auto& word : all)
    if (const auto found = ids.find(word); found != ids.end()) text.push_back(found->second);
}

SkipGrams::SkipGrams(const Corpus& corpus, const SkipGramOptions& options, std::uint64_t seed)
    : corpus_(corpus), options_(options), random_(seed), place_(draw(std::ssize(corpus.text))) {
  ACTORFLOW_CHECK(corpus.text.size() >= 2, "a text of", corpus.text.size(), "words");
  double sum = 0;
  for (const std::int64_t count : corpus.counts)
    cumulated_.push_back(sum += std::pow(static_cast<double>(count), 0.75));
}

SkipGrams::Batch SkipGrams::next(std::int64_t size) {
  const std::int64_t columns = 1 + options_.negatives;
  Batch batch{Tensor::allocate(DType::int64, {size}), Tensor::allocate(DType::int64, {size, columns})};
  auto target = batch.targets.mutable_values<std::int64_t>().begin();
  for (std::int64_t& center : batch.centers.mutable_values<std::int64_t>()) {
    while (contexts_.empty()) next_center();
    center = corpus_.text[static_cast<std::size_t>(place_)];
    *target++ = contexts_.back();
    contexts_.pop_back();
    for (std::int64_t i = 0; i < options_.negatives; ++i)
      *target++ =
          std::ranges::upper_bound(cumulated_, draw_unit() * cumulated_.back()) - cumulated_.begin();
  }
  return batch;
}

// The standard library's distributions differ from one implementation to another.
std::int64_t SkipGrams::draw(std::int64_t below) {
  ACTORFLOW_CHECK(below > 0, below);
  return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
}

double SkipGrams::draw_unit() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }

bool SkipGrams::is_skipped(std::int64_t word) {
  const double share = static_cast<double>(corpus_.counts[static_cast<std::size_t>(word)]) /
                       static_cast<double>(corpus_.text.size());
  return draw_unit() > std::sqrt(options_.subsampling / share);
}

// Goes on to the next word that is not skipped, and takes some of the words around it.
void SkipGrams::next_center() {
  const auto& text = corpus_.text;
  do place_ = (place_ + 1) % std::ssize(text);
  while (is_skipped(text[static_cast<std::size_t>(place_)]));
  const std::int64_t reach = 1 + draw(options_.window);
  const std::int64_t first = std::max<std::int64_t>(place_ - reach, 0);
  const std::int64_t last = std::min(place_ + reach, std::ssize(text) - 1);
  for (std::int64_t i = first; i <= last; ++i)
    if (i != place_ && !is_skipped(text[static_cast<std::size_t>(i)]))
      contexts_.push_back(text[static_cast<std::size_t>(i)]);
}

}  // namespace actorflow
