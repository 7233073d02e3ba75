// Columns whose values are of a finite set.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "actors/estimator/columns/feature_values.h"
#include "actors/estimator/columns/fingerprint.h"
#include "actors/estimator/feature_column.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

using Ids = CategoricalColumn::Ids;

std::int64_t bucket_of(std::string_view text, std::int64_t buckets) {
  return static_cast<std::int64_t>(fingerprint64(text) % static_cast<std::uint64_t>(buckets));
}

void expect_at_least(std::int64_t least, std::string_view column, const std::string& key,
                     std::string_view what, std::int64_t value) {
  if (value < least)
    throw invalid_argument(
        fmt::format("{} '{}': expected {} of {} or more, got {}", column, key, what, least, value));
}

const std::string& as_text(const std::string& value) { return value; }
std::string as_text(std::int64_t value) { return std::to_string(value); }

std::vector<std::optional<std::string>> values_of(const std::string& key, const Tensor& feature,
                                                  const std::string&) {
  return texts_of(key, feature);
}
std::vector<std::optional<std::int64_t>> values_of(const std::string& key, const Tensor& feature,
                                                   std::int64_t) {
  return integers_of(key, feature);
}

// A list of text or of integers.
template <class T>
class Vocabulary {
 public:
  Vocabulary(std::string key, const std::vector<T>& entries, const VocabularyOptions& options)
      : key_(std::move(key)), options_(options) {
    check(entries);
    for (const T& entry : entries) {
      if (!places_.try_emplace(entry, std::ssize(places_)).second)
        refuse(fmt::format("the vocabulary has '{}' twice", entry));
      content_ = joined_fingerprint(content_, fingerprint64(as_text(entry)));
    }
  }

  std::int64_t num_buckets() const { return std::ssize(places_) + options_.num_oov_buckets; }
  std::string definition() const {
    return fmt::format("vocabulary of {} entries ({:016x}), default_value {}, num_oov_buckets {}",
                       places_.size(), content_, options_.default_value, options_.num_oov_buckets);
  }

  Ids ids(const Tensor& feature) const {
    Ids ids;
    for (const auto& value : values_of(key_, feature, T{}))
      ids.push_back(value ? number_of(*value) : -1);
    return ids;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw invalid_argument(fmt::format("categorical_column_with_vocabulary_list '{}': {}", key_, what));
  }

  void check(const std::vector<T>& entries) const {
    if (entries.empty()) refuse("expected at least one entry, got none");
    if (options_.num_oov_buckets < 0)
      refuse(fmt::format("expected num_oov_buckets of 0 or more, got {}", options_.num_oov_buckets));
    if (options_.num_oov_buckets > 0 && options_.default_value != -1)
      refuse(fmt::format("give default_value ({}) or num_oov_buckets ({}), not both",
                         options_.default_value, options_.num_oov_buckets));
    if (options_.default_value < -1 || options_.default_value >= std::ssize(entries))
      refuse(fmt::format("expected a default_value from -1 to {}, got {}", entries.size() - 1,
                         options_.default_value));
  }

  std::int64_t number_of(const T& value) const {
    if (const auto found = places_.find(value); found != places_.end()) return found->second;
    if (options_.num_oov_buckets == 0) return options_.default_value;
    return std::ssize(places_) + bucket_of(as_text(value), options_.num_oov_buckets);
  }

  std::string key_;
  VocabularyOptions options_;
  std::map<T, std::int64_t> places_;
  std::uint64_t content_ = 0;
};

template <class T>
CategoricalColumn column_of_list(std::string key, const std::vector<T>& entries,
                                 const VocabularyOptions& options) {
  const auto vocabulary = std::make_shared<const Vocabulary<T>>(key, entries, options);
  return CategoricalColumn(
      {.name = key,
       .keys = {key},
       .num_buckets = vocabulary->num_buckets(),
       .definition = vocabulary->definition(),
       .ids = [vocabulary](std::span<const Tensor> features) { return vocabulary->ids(features[0]); }});
}

std::int64_t own_number(const std::string& key, std::int64_t value, std::int64_t buckets,
                        const std::optional<std::int64_t>& otherwise) {
  if (value >= 0 && value < buckets) return value;
  if (otherwise) return *otherwise;
  throw invalid_argument(
      fmt::format("the feature '{}': {} is not one of the {} categories from 0 on; give "
                  "categorical_column_with_identity more buckets or a default_value",
                  key, value, buckets));
}

}  // namespace

CategoricalColumn categorical_column_with_vocabulary_list(std::string key,
                                                          std::vector<std::string> vocabulary,
                                                          const VocabularyOptions& options) {
  if (std::ranges::find(vocabulary, std::string()) != vocabulary.end())
    throw invalid_argument(fmt::format(
        "categorical_column_with_vocabulary_list '{}': empty text is a missing value, and cannot be in "
        "the vocabulary",
        key));
  return column_of_list(std::move(key), vocabulary, options);
}

CategoricalColumn categorical_column_with_vocabulary_list(std::string key,
                                                          std::vector<std::int64_t> vocabulary,
                                                          const VocabularyOptions& options) {
  return column_of_list(std::move(key), vocabulary, options);
}

CategoricalColumn categorical_column_with_hash_bucket(std::string key, std::int64_t buckets) {
  expect_at_least(1, "categorical_column_with_hash_bucket", key, "a hash_bucket_size", buckets);
  const auto ids_of = [key, buckets](std::span<const Tensor> features) {
    Ids ids;
    for (const auto& text : texts_or_integers_of(key, features[0]))
      ids.push_back(text ? bucket_of(*text, buckets) : -1);
    return ids;
  };
  return CategoricalColumn({.name = key,
                            .keys = {key},
                            .num_buckets = buckets,
                            .definition = fmt::format("hash of {} buckets", buckets),
                            .hashed = true,
                            .ids = ids_of});
}

CategoricalColumn categorical_column_with_identity(std::string key, std::int64_t buckets,
                                                   std::optional<std::int64_t> otherwise) {
  expect_at_least(1, "categorical_column_with_identity", key, "num_buckets", buckets);
  if (otherwise && (*otherwise < 0 || *otherwise >= buckets))
    throw invalid_argument(fmt::format(
        "categorical_column_with_identity '{}': expected a default_value from 0 to {}, got {}", key,
        buckets - 1, *otherwise));
  const auto ids_of = [key, buckets, otherwise](std::span<const Tensor> features) {
    Ids ids;
    for (const auto& value : integers_of(key, features[0]))
      ids.push_back(value ? own_number(key, *value, buckets, otherwise) : -1);
    return ids;
  };
  return CategoricalColumn(
      {.name = key,
       .keys = {key},
       .num_buckets = buckets,
       .definition = fmt::format("identity of {} buckets, default_value {}", buckets,
                                 otherwise ? std::to_string(*otherwise) : "none"),
       .ids = ids_of});
}

}  // namespace actorflow
