#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "actors/estimator/columns/feature_values.h"
#include "actors/estimator/columns/fingerprint.h"
#include "actors/estimator/feature_column.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

using Ids = CategoricalColumn::Ids;
using Hashes = std::vector<std::uint64_t>;

// One of those that are crossed.
struct Part {
  std::vector<std::string> keys;
  std::string definition;
  // The hashes of the values that there are.
  std::function<Hashes(std::span<const Tensor> features)> hashes;
};

// Text by its fingerprint, integers by their value, as TensorFlow's SparseCross has it.
Hashes hashes_of(const std::string& key, const Tensor& feature) {
  Hashes hashes;
  if (feature.dtype() == DType::string) {
    for (const auto& text : texts_of(key, feature))
      if (text) hashes.push_back(fingerprint64(*text));
  } else if (is_integer(feature.dtype())) {
    for (const auto& value : integers_of(key, feature))
      if (value) hashes.push_back(static_cast<std::uint64_t>(*value));
  } else {
    throw invalid_argument(
        fmt::format("the feature '{}': expected text (string) or integers to cross, got {}; cross a "
                    "bucketized_column of it",
                    key, feature.describe()));
  }
  return hashes;
}

Part part_of(const std::string& key) {
  return {{key}, "feature " + key, [key](std::span<const Tensor> features) {
            return hashes_of(key, features[0]);
          }};
}

Part part_of(const CategoricalColumn& column) {
  const auto& def = column.def();
  if (def.hashed)
    throw invalid_argument(
        fmt::format("crossed_column: '{}' is hashed already, which would hash it twice; give the key of "
                    "its feature instead",
                    column.name()));
  return {def.keys, fmt::format("{} ({})", def.name, def.definition),
          [column](std::span<const Tensor> features) {
            Hashes hashes;
            for (const std::int64_t id : column.ids(features))
              if (id >= 0) hashes.push_back(static_cast<std::uint64_t>(id));
            return hashes;
          }};
}

// Of the combinations those with the first value of the first part come first.
Ids combinations(const std::vector<Part>& parts, std::span<const Tensor> features,
                 std::int64_t buckets) {
  constexpr std::uint64_t hash_key = 0xDECAFCAFFE;  // TensorFlow's
  Hashes joined{hash_key};
  for (const Part& part : parts) {
    const Hashes own = part.hashes(features.first(part.keys.size()));
    features = features.subspan(part.keys.size());
    Hashes longer;
    for (const std::uint64_t first : joined)
      for (const std::uint64_t second : own) longer.push_back(joined_fingerprint(first, second));
    joined = std::move(longer);
  }
  Ids ids;
  for (const std::uint64_t hash : joined)
    ids.push_back(static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(buckets)));
  return ids;
}

// The product of the numbers of values, missing ones included: as many in each example.
std::int64_t most_combinations(std::span<const Tensor> features) {
  std::int64_t count = 1;
  for (const Tensor& feature : features) count *= feature.elements();
  return count;
}

}  // namespace

CategoricalColumn crossed_column(const std::vector<CrossedKey>& keys, std::int64_t buckets) {
  if (keys.size() < 2)
    throw invalid_argument(
        fmt::format("crossed_column: expected two or more features or columns, got {}", keys.size()));
  if (buckets < 2)
    throw invalid_argument(
        fmt::format("crossed_column: expected a hash_bucket_size of 2 or more, got {}", buckets));
  std::vector<Part> parts;
  std::vector<std::string> names, definitions;
  CategoricalColumn::Def def;
  for (const bool features : {false, true})
    for (const CrossedKey& key : keys)
      if (std::holds_alternative<std::string>(key) == features)
        parts.push_back(std::visit([](const auto& one) { return part_of(one); }, key));
  for (const CrossedKey& key : keys)
    names.push_back(std::holds_alternative<std::string>(key) ? std::get<std::string>(key)
                                                             : std::get<CategoricalColumn>(key).name());
  std::ranges::sort(names);
  for (const Part& part : parts) {
    def.keys.insert(def.keys.end(), part.keys.begin(), part.keys.end());
    definitions.push_back(part.definition);
  }
  def.name = fmt::format("{}", fmt::join(names, "_X_"));
  def.num_buckets = buckets;
  def.definition = fmt::format("{} buckets of {}", buckets, fmt::join(definitions, " X "));
  def.hashed = true;
  def.ids = [parts, buckets](std::span<const Tensor> features) {
    Ids ids = combinations(parts, features, buckets);
    ids.resize(static_cast<std::size_t>(most_combinations(features)), -1);
    return ids;
  };
  return CategoricalColumn(std::move(def));
}

}  // namespace actorflow
